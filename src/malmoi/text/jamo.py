"""Hangul syllables taken apart into letters, and put together again exactly.

A syllable becomes three letters: initial, vowel and final, EMPTY standing for a final that is
not there (강아지 is ㄱㅏㅇㅇㅏ∅ㅈㅣ∅). A letter that stands alone in the text, as in ㅋㅋ, is followed
by two EMPTY, and EMPTY itself is written three times, so that nothing can be taken for
anything else. All other characters stay as they are. Knows nothing of tokens.
"""

import re

EMPTY = "∅"  # no letter of any script
INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
FINALS = EMPTY + "ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"

LETTERS = {
    first + vowel + final: chr(0xAC00 + (i * len(VOWELS) + j) * len(FINALS) + k)
    for i, first in enumerate(INITIALS)
    for j, vowel in enumerate(VOWELS)
    for k, final in enumerate(FINALS)
}
ALONE = {letter + EMPTY + EMPTY: letter for letter in {*INITIALS, *VOWELS, *FINALS}}
SYLLABLES = LETTERS | ALONE
TABLE = {ord(syllable): letters for letters, syllable in SYLLABLES.items()}
UNIT = re.compile(f"[{INITIALS}][{VOWELS}][{FINALS}]|[{INITIALS}{VOWELS}{FINALS}]{EMPTY}{EMPTY}")


def split_jamo(text: str) -> str:
    """Every Hangul syllable as three letters."""
    return text.translate(TABLE)


def join_jamo(letters: str) -> str:
    """The text that `split_jamo` took apart."""
    return UNIT.sub(lambda unit: SYLLABLES[unit[0]], letters)
