"""Encodes sentences as a stream of numbers; each new word gets the next number.

The caller maps the numbers to ids of its vocabulary.
"""

from array import array
from collections.abc import Iterable, Sequence

import numpy as np

from malmoi.arrays import UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.marks import LINE_END

UNKNOWN_WORD, BEGIN, END = "<unk>", "<s>", "</s>"


def number_words(sentences: Iterable[Sequence[str]]) -> tuple[list[str], UInt32Array]:
    """Return the distinct words, and the sentences as numbers with LINE_END after each."""
    numbers: dict[str, int] = {}
    stream = array("I")
    for sentence in sentences:
        check_is_split(sentence)
        stream.extend([numbers.setdefault(word, len(numbers)) for word in sentence])
        stream.append(LINE_END)
    check_no_marks(numbers)
    return list(numbers), np.frombuffer(stream, dtype=np.uint32)


def check_is_split(words: Sequence[str]) -> None:
    """Check that a sentence is a list of words, not a string."""
    if isinstance(words, str):
        raise InvalidArgumentError(
            f"'{words[:40]}' is one string: give a list of words, as ['I', 'am']"
        )


def check_no_marks(words: Iterable[str]) -> None:
    """Check that the words include neither `<s>` nor `</s>`."""
    for word in words:
        if word in (BEGIN, END):
            raise InvalidArgumentError(f"'{word}' is among the words: leave it out, malmoi adds it")
