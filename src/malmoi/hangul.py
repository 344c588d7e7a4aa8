"""Hangul syllables decomposed into jamo (letters), and composed again without loss.

A syllable becomes three jamo: initial, vowel and final, with EMPTY for a missing final (강아지 is
ㄱㅏㅇㅇㅏ∅ㅈㅣ∅). A jamo that stands alone in the text, as in ㅋㅋ, is followed by two EMPTY, and
EMPTY itself is written three times, so that decomposition is unambiguous. All other characters
stay unchanged. Knows nothing about tokens.
"""

import re

from malmoi.arguments import expect

EMPTY = "∅"  # not a letter of any script
INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
FINALS = EMPTY + "ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
COMPATIBILITY_JAMO = "".join(map(chr, range(0x3131, 0x3164))) + EMPTY

JAMO_OF_SYLLABLES = [a + b + c for a in INITIALS for b in VOWELS for c in FINALS]  # from 가 to 힣
COMPOSED = {jamo: chr(0xAC00 + i) for i, jamo in enumerate(JAMO_OF_SYLLABLES)} | {
    letter + EMPTY + EMPTY: letter for letter in COMPATIBILITY_JAMO
}
DECOMPOSED = {ord(character): jamo for jamo, character in COMPOSED.items()}
JAMO_TRIPLE = re.compile(f"[{INITIALS}][{VOWELS}][{FINALS}]|[{COMPATIBILITY_JAMO}]{EMPTY}{EMPTY}")


def split_jamo(text: str) -> str:
    """Decompose every Hangul syllable of a text into three jamo.

    Args:
        text: Any text; characters that are not Hangul stay unchanged.

    Returns:
        The decomposed text; `join_jamo` restores the original.

    Raises:
        InvalidArgumentError: `text` is not a string.
    """
    expect(text, str, "text", "a string")
    return text.translate(DECOMPOSED)


def join_jamo(jamo: str) -> str:
    """Compose the text that `split_jamo` decomposed.

    Args:
        jamo: What `split_jamo` returned.

    Returns:
        The original text.

    Raises:
        InvalidArgumentError: `jamo` is not a string.

    Example:
        mm.join_jamo(mm.split_jamo("강아지"))  # '강아지'
    """
    expect(jamo, str, "jamo", "a string")
    return JAMO_TRIPLE.sub(lambda triple: COMPOSED[triple[0]], jamo)
