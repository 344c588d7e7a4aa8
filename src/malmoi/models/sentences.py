"""Sentences of words to a stream of numbers, each new word getting the next number.

Knows no vocabulary: whoever asks gives the numbers their meaning.
"""

from array import array
from collections.abc import Iterable, Sequence

import numpy as np

from malmoi.arrays import UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.marks import LINE_END

UNKNOWN_WORD, BEGIN, END = "<unk>", "<s>", "</s>"


def number_words(sentences: Iterable[Sequence[str]]) -> tuple[list[str], UInt32Array]:
    """The distinct words as they are met, and every sentence as their numbers and LINE_END."""
    numbers: dict[str, int] = {}
    stream = array("I")
    for sentence in sentences:
        check_is_split(sentence)
        stream.extend([numbers.setdefault(word, len(numbers)) for word in sentence])
        stream.append(LINE_END)
    refuse_marks(numbers)
    return list(numbers), np.frombuffer(stream, dtype=np.uint32)


def check_is_split(words: Sequence[str]) -> None:
    """A string is a sequence of strings too, but of letters."""
    if isinstance(words, str):
        raise InvalidArgumentError(
            f"'{words[:40]}' is one string: give a list of words, as ['I', 'am']"
        )


def refuse_marks(words: Iterable[str]) -> None:
    """The ends of a sentence are no words of it."""
    for word in words:
        if word in (BEGIN, END):
            raise InvalidArgumentError(
                f"'{word}' stands among the words: leave it out, it is added for you"
            )
