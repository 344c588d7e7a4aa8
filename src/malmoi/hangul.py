"""Hangul syllables taken apart into letters, and put together again exactly.

A syllable becomes three letters: initial, vowel and final, EMPTY standing for a final that is
not there (강아지 is ㄱㅏㅇㅇㅏ∅ㅈㅣ∅). A letter that stands alone in the text, as in ㅋㅋ, is
followed by two EMPTY, and EMPTY itself is written three times, so that nothing can be taken
for anything else. All other characters stay as they are. Knows nothing of tokens.
"""

import re

EMPTY = "∅"  # no letter of any script
INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
FINALS = EMPTY + "ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
ALONE = "".join(map(chr, range(0x3131, 0x3164))) + EMPTY

LETTERS = [a + b + c for a in INITIALS for b in VOWELS for c in FINALS]  # from 가 to 힣
UNITS = {letters: chr(0xAC00 + i) for i, letters in enumerate(LETTERS)} | {
    letter + EMPTY + EMPTY: letter for letter in ALONE
}
TABLE = {ord(character): letters for letters, character in UNITS.items()}
UNIT = re.compile(f"[{INITIALS}][{VOWELS}][{FINALS}]|[{ALONE}]{EMPTY}{EMPTY}")


def split_jamo(text: str) -> str:
    """Every Hangul syllable of a word or line as three letters."""
    return text.translate(TABLE)


def join_jamo(letters: str) -> str:
    """The text that `split_jamo` took apart."""
    return UNIT.sub(lambda unit: UNITS[unit[0]], letters)
