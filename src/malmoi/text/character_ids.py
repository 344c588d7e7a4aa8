"""Words as character ids for a character CNN: UTF-8 bytes as in ELMo, or jamo for Hangul.

Ids 0 to 255 are bytes; five ids after them mark sentences, words and padding, as in bilm-tf and
AllenNLP. With `jamo`, each letter of a Hangul syllable has an id of its own beyond these, so that
a syllable is two or three ids and its initial differs from its final; all else stays bytes. Knows
nothing about sentences or models.
"""

from collections.abc import Iterable
from typing import Literal, get_args

import numpy as np

from malmoi.arrays import Int64Array
from malmoi.hangul import FINALS, INITIALS, VOWELS

CharacterUnits = Literal["bytes", "jamo"]
CHARACTER_UNITS: tuple[CharacterUnits, ...] = get_args(CharacterUnits)

BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, PADDING = range(256, 261)
NUM_BYTE_IDS = 261
SYLLABLE_BYTES = 3  # of a Hangul syllable in UTF-8
FIRST_SYLLABLE, LAST_SYLLABLE = "가", "힣"
FIRST_LETTER, LAST_LETTER = "ㄱ", "ㅣ"  # a letter that stands alone, as in ㅋㅋ
FIRST_VOWEL_ID = NUM_BYTE_IDS + len(INITIALS)
FIRST_FINAL_ID = FIRST_VOWEL_ID + len(VOWELS) - 1  # of which the first is no final at all
FIRST_LETTER_ID = FIRST_FINAL_ID + len(FINALS)
NUM_IDS: dict[CharacterUnits, int] = {
    "bytes": NUM_BYTE_IDS,
    "jamo": FIRST_LETTER_ID + ord(LAST_LETTER) - ord(FIRST_LETTER) + 1,
}


def character_ids(
    words: Iterable[str], max_characters: int, units: CharacterUnits = "bytes"
) -> Int64Array:
    """The ids of each word, [words, max_characters]: its begin, characters, end and padding.

    Longer words are cut, in bytes possibly inside a character, as the originals do.
    """
    return _rows((word_ids(word, units) for word in words), max_characters)


def boundary_ids(max_characters: int) -> Int64Array:
    """The two tokens around each sentence, [2, max_characters]: its begin and its end."""
    return _rows(([BEGIN_SENTENCE], [END_SENTENCE]), max_characters)


def word_ids(word: str, units: CharacterUnits = "bytes") -> list[int]:
    """The ids of a word's characters, without its begin and end."""
    if units == "bytes":
        return list(word.encode("utf-8", "ignore"))
    return [id_ for character in word for id_ in _jamo_ids(character)]


def word_of(ids: Iterable[int]) -> str:
    """The word that ids spell, as far as they go: the reverse of `word_ids`."""
    text, initial = bytearray(), 0
    for id_ in ids:
        if id_ < BEGIN_SENTENCE:
            text.append(id_)
        elif id_ >= FIRST_LETTER_ID:
            text += chr(ord(FIRST_LETTER) + id_ - FIRST_LETTER_ID).encode()
        elif id_ > FIRST_FINAL_ID:  # completes the syllable before it
            syllable = ord(text[-SYLLABLE_BYTES:].decode("utf-8", "replace")[-1:])
            text[-SYLLABLE_BYTES:] = chr(syllable + id_ - FIRST_FINAL_ID).encode()
        elif id_ >= FIRST_VOWEL_ID:
            syllable = (initial * len(VOWELS) + id_ - FIRST_VOWEL_ID) * len(FINALS)
            text += chr(ord(FIRST_SYLLABLE) + syllable).encode()
        elif id_ >= NUM_BYTE_IDS:
            initial = id_ - NUM_BYTE_IDS
    return text.decode("utf-8", "replace")


def _jamo_ids(character: str) -> list[int]:
    if FIRST_SYLLABLE <= character <= LAST_SYLLABLE:
        initial_and_vowel, final = divmod(ord(character) - ord(FIRST_SYLLABLE), len(FINALS))
        initial, vowel = divmod(initial_and_vowel, len(VOWELS))
        ids = [NUM_BYTE_IDS + initial, FIRST_VOWEL_ID + vowel]
        return [*ids, FIRST_FINAL_ID + final] if final else ids
    if FIRST_LETTER <= character <= LAST_LETTER:
        return [FIRST_LETTER_ID + ord(character) - ord(FIRST_LETTER)]
    return list(character.encode("utf-8", "ignore"))


def _rows(words: Iterable[list[int]], max_characters: int) -> Int64Array:
    rows = []
    for ids in words:
        marked = [BEGIN_WORD, *ids[: max_characters - 2], END_WORD]
        rows.append(marked + [PADDING] * (max_characters - len(marked)))
    return np.array(rows, np.int64).reshape(len(rows), max_characters)
