"""IndexQuery: what an index is searched for, checked and ready to be ranked."""

from dataclasses import dataclass

import numpy as np

from malmoi.arguments import described, expect, expect_count
from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError
from malmoi.rerank.reranker import Reranker
from malmoi.search.querying.filters import Condition
from malmoi.search.storage.fusion import check_weight


@dataclass(frozen=True, eq=False)
class IndexQuery:
    """The unit vector and the words of a query; each is None where a search does not use it.

    `weight` is that of words in a hybrid search, None for any other.
    """

    k: int
    conditions: tuple[Condition, ...]
    direction: Float32Array | None
    words: list[str] | None
    weight: float | None
    exact: bool


def check_query(query: object, k: int, weight: float | None, *, hybrid: bool) -> None:
    """Raise `InvalidArgumentError` if the arguments of a search are not valid."""
    expect_count(k)
    if isinstance(query, str) and not query.strip():
        raise InvalidArgumentError("the query is empty")
    if weight is not None:
        if not hybrid:
            raise InvalidArgumentError("weight is for a hybrid search: set hybrid too")
        check_weight(weight)


def check_rerank(query: object, rerank: object, rerank_top: int) -> None:
    """Raise `InvalidArgumentError` if a search cannot be reranked."""
    hint = "load one with load_reranker(folder)"
    expect(rerank, Reranker, "rerank", "a Reranker", hint=hint)
    expect_count(rerank_top, "rerank_top")
    if not isinstance(query, str):
        raise InvalidArgumentError("a reranker reads texts: pass the query as a text, not a vector")


def as_vector(query: object, dim: int) -> Float32Array:
    """A query that is not a text, as numbers."""
    try:
        vector: Float32Array = np.asarray(query, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(
            f"a query must be one text or one vector, not {described(query)}; search for several"
            " texts one by one"
        ) from error
    if vector.shape != (dim,):
        raise InvalidArgumentError(
            f"a query is a text or a vector of {dim} dimensions; got shape {vector.shape}"
        )
    return vector
