"""From what a user asks with, a word or a vector, to directions in the space.

A word that has no row is first split as the training text was; then `SubwordVectors` say what
may be meant by it. Where each vector comes from is reported with it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError, MalmoiError, UnknownWordError
from malmoi.explanation import Explanation
from malmoi.query.suggestions import near_spellings
from malmoi.subwords import SubwordVectors
from malmoi.text.tokenizers import Tokenizer, tokenizer_from
from malmoi.vectors import Vectors

OnReading = Callable[[Explanation], object]
"""Called with each word of a question that has no row of its own, and what answers instead."""


def unheard(explanation: Explanation) -> None:
    """For those who do not want to hear of it."""


class Query(NamedTuple):
    """A direction, and the words it comes from, which are left out of the answer."""

    direction: Float32Array
    words: tuple[str, ...] = ()


def check_count(k: int) -> None:
    """How many answers are asked for."""
    if k < 1:
        raise InvalidArgumentError(f"k is {k}: at least one answer must be asked for")


def understand(vectors: Vectors, word: str) -> tuple[Float32Array, Explanation]:
    """The vector of what is meant by a word, and where it comes from.

    A word of which too little is known is refused, with near spellings.
    """
    row = vectors.row(word)
    if row >= 0:
        return vectors.matrix[row], Explanation(word, "own row")
    tokens, remark = split_as_trained(vectors, word)
    if tokens:
        mean: Float32Array = np.mean([vectors[token] for token in tokens], axis=0, dtype=np.float32)
        return mean, Explanation(word, "tokens", tokens=tokens)
    because = remark
    if isinstance(vectors, SubwordVectors):
        vector, explanation = vectors.understand(word)
        if vector is not None and not vectors.is_guess(explanation):
            return vector, replace(explanation, remark=remark)
        if explanation.ngrams:
            because = f"which know only {explanation.known}" + (f"; {remark}" if remark else "")
    raise UnknownWordError(word, near_spellings(vectors.keys, word), because=because)


def split_as_trained(vectors: Vectors, word: str) -> tuple[tuple[str, ...], str]:
    """The known tokens that the vectors' own tokenizer makes of a word, all of them or none.

    Where that tokenizer is not there, the reason.
    """
    description = vectors.meta.get("tokenizer", "")
    if not description:
        return (), ""
    try:
        tokens = tuple(_tokenizer(description)(word))
    except MalmoiError as error:
        return (), f"it could not be split as the training text was: {error}"
    except (ValueError, TypeError):  # no description of a tokenizer
        return (), f"the vectors' tokenizer '{description}' is not known"
    return (tokens if all(vectors.row(token) >= 0 for token in tokens) else ()), ""


@lru_cache(maxsize=8)
def _tokenizer(description: str) -> Tokenizer:
    return tokenizer_from(description)


def question_of(
    vectors: Vectors, asked: str | npt.ArrayLike, on_reading: OnReading = unheard
) -> Query:
    """The direction that a question means, which must point somewhere."""
    if isinstance(asked, str):
        vector, explanation = understand(vectors, asked)
        if not np.any(vector):
            raise InvalidArgumentError(
                f"the vector of '{asked}' is all zeros, so nothing is near to it"
            )
        if not np.isfinite(vector).all():
            raise InvalidArgumentError(
                f"the vector of '{asked}' holds nan or inf, so nothing is near to it"
            )
        if explanation.source != "own row":
            on_reading(explanation)
        return Query(vector, explanation.tokens or (asked,))
    given = np.asarray(asked, dtype=np.float32)
    if given.shape != (vectors.dim,):
        raise InvalidArgumentError(
            f"a vector of shape {given.shape} beside vectors of {vectors.dim} numbers"
        )
    if not np.isfinite(given).all() or not np.any(given):
        raise InvalidArgumentError("a vector to ask with must be finite and not all zeros")
    return Query(given)


def rows_of(vectors: Vectors, words: Sequence[str]) -> list[int]:
    """The rows of those words that have one: inputs, to be left out of the answer."""
    rows = [vectors.row(word) for word in words]
    return [row for row in rows if row >= 0]
