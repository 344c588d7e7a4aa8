"""From the query of a user, a word or a vector, to a direction in the vector space.

A word without a row is first tokenized as the training text was; then `SubwordVectors` correct
its spelling or build it from n-grams. An `Explanation` says where each vector comes from.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.arguments import described, expect_count
from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError, MalmoiError, UnknownWordError
from malmoi.explanation import Explanation
from malmoi.query.suggestions import near_spellings
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.subwords import SubwordVectors
from malmoi.text.tokenizers import Tokenizer, tokenizer_from
from malmoi.vectors import Vectors, expect_vectors


class Query(NamedTuple):
    """A direction, and the words it comes from, which are excluded from the results."""

    direction: Float32Array
    words: tuple[str, ...] = ()


def check_k(k: int) -> None:
    """Raise `InvalidArgumentError` unless at least one result is requested."""
    expect_count(k)


def restrict(vectors: Vectors, restrict_vocab: int | None) -> Vectors:
    """The `restrict_vocab` most frequent words, or all of them for None."""
    expect_vectors(vectors)
    if restrict_vocab is None:
        return vectors
    expect_count(restrict_vocab, "restrict_vocab")
    return vectors.most_frequent(restrict_vocab)


def resolve_word(vectors: Vectors, word: str) -> tuple[Float32Array, Explanation]:
    """The vector that answers for a word, and where it comes from.

    Raises `UnknownWordError` with spelling suggestions for a word of which too little is known.
    """
    row = vectors.row(word)
    if row >= 0:
        return vectors.matrix[row], Explanation(word, "own row")
    tokens, remark = tokenize_as_trained(vectors, word)
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


def tokenize_as_trained(vectors: Vectors, word: str) -> tuple[tuple[str, ...], str]:
    """The tokens of a word by the tokenizer that the vectors were trained with.

    There are none unless all of them have rows. The second value says why the tokenizer cannot
    be used, if it cannot.
    """
    description = vectors.meta.get("tokenizer", "")
    if not description:
        return (), ""
    try:
        tokens = tuple(_tokenizer(description)(word))
    except MalmoiError as error:
        return (), f"it could not be split as the training text was: {error}"
    except (ValueError, TypeError):  # not a description of a tokenizer
        return (), f"the vectors' tokenizer '{description}' is not known"
    return (tokens if all(vectors.row(token) >= 0 for token in tokens) else ()), ""


@lru_cache(maxsize=8)
def _tokenizer(description: str) -> Tokenizer:
    return tokenizer_from(description)


def make_query(
    vectors: Vectors, query: str | npt.ArrayLike, reporter: Reporter = DEFAULT_REPORTER
) -> Query:
    """The direction of a word or vector; `reporter` receives explanations of unknown words."""
    expect_vectors(vectors)
    if isinstance(query, str):
        vector, explanation = resolve_word(vectors, query)
        if not np.any(vector):
            raise InvalidArgumentError(
                f"the vector of '{query}' is all zeros: it has no neighbours"
            )
        if not np.isfinite(vector).all():
            raise InvalidArgumentError(
                f"the vector of '{query}' holds nan or inf: it has no neighbours"
            )
        if explanation.source != "own row":
            reporter.out_of_vocabulary(explanation)
        return Query(vector, explanation.tokens or (query,))
    try:
        direction = np.asarray(query, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(
            f"a query must be a word or a vector, not {described(query)}"
        ) from error
    if direction.shape != (vectors.dim,):
        raise InvalidArgumentError(
            f"the query vector has shape {direction.shape}; the vectors have {vectors.dim}"
            " dimensions"
        )
    if not np.isfinite(direction).all() or not np.any(direction):
        raise InvalidArgumentError("the query vector must be finite and not all zeros")
    return Query(direction)


def rows_of(vectors: Vectors, words: Sequence[str]) -> list[int]:
    """The rows of those words that have one; queries exclude these rows from their results."""
    rows = [vectors.row(word) for word in words]
    return [row for row in rows if row >= 0]
