"""The nearest words to keys that are added and subtracted, as in gensim's `most_similar`."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError
from malmoi.nearest.top_k import all_scores, top_k
from malmoi.query.analogy import cosine_products
from malmoi.query.neighbours import neighbours
from malmoi.vectors import Vectors, l2_normalize

QueryKey = str | int | npt.NDArray[Any]  # a word, the number of a row, or a vector
WeightedKey = QueryKey | tuple[QueryKey, float]
QueryKeys = WeightedKey | Sequence[WeightedKey] | None  # one or several
SimilarWords = list[tuple[str, float]]


class Terms(NamedTuple):
    """Directions [n, dim] with their weights [n], and the rows that results leave out."""

    directions: Float32Array
    weights: Float32Array
    own_rows: frozenset[int]


def weighted_terms(vectors: Vectors, positive: QueryKeys, negative: QueryKeys) -> Terms:
    """Look up keys: words scaled to length 1, vectors as they are."""
    keys, weights = [], []
    for given, sign in ((positive, 1.0), (negative, -1.0)):
        for key in as_list(given):
            is_weighted = isinstance(key, tuple)
            if is_weighted and len(key) != 2:
                raise InvalidArgumentError(
                    f"{key!r} is not a word with its weight: give (word, 1.5)"
                )
            keys.append(key[0] if is_weighted else key)
            weights.append(float(key[1]) if is_weighted else sign)
    if not keys:
        raise InvalidArgumentError("there is nothing to look for: give a word or a vector")
    directions = [
        key if isinstance(key, np.ndarray) else vectors.get_vector(key, norm=True) for key in keys
    ]
    wrong = next((key.shape for key in directions if key.shape != (vectors.dim,)), None)
    if wrong is not None:
        raise InvalidArgumentError(
            f"a vector has shape {wrong}; the vectors have {vectors.dim} dimensions"
        )
    rows = [vectors.row(key) if isinstance(key, str) else key for key in keys]
    own_rows = frozenset(int(row) for row in rows if not isinstance(row, np.ndarray) and row >= 0)
    return Terms(
        np.stack(directions).astype(np.float32), np.array(weights, dtype=np.float32), own_rows
    )


def as_list(keys: QueryKeys) -> list[Any]:
    """One key or several as a list; a matrix is one vector per row."""
    if keys is None:
        return []
    if isinstance(keys, str | int | np.integer) or (isinstance(keys, np.ndarray) and keys.ndim < 2):
        return [keys]
    return list(keys)


def is_wanted(topn: int | None) -> bool:
    """Whether any word is to be returned; `InvalidArgumentError` if `topn` is not a number."""
    if topn is not None and not isinstance(topn, int | np.integer):
        raise InvalidArgumentError(
            f"topn is {topn!r}: give a whole number, or None for all cosines"
        )
    return topn is None or topn > 0


def nearest_to_terms(
    vectors: Vectors, terms: Terms, topn: int | None, rows: slice, indexer: Any = None
) -> SimilarWords | Float32Array:
    """The `topn` words nearest to the weighted mean of terms; None returns all cosines."""
    if not is_wanted(topn):
        return []
    total = terms.weights @ terms.directions / np.abs(terms.weights).sum()
    direction = l2_normalize(total.astype(np.float32))
    if indexer is not None and topn is not None:
        indexed: SimilarWords = indexer.most_similar(direction, topn)
        return indexed
    first, last, _ = rows.indices(len(vectors))
    searched = vectors if last - first == len(vectors) else vectors.take(rows)
    if topn is None:
        return all_scores(searched, direction)
    if not len(searched):
        return []
    near = neighbours(searched, direction, int(topn) + len(terms.own_rows))
    own = {vectors.keys[row] for row in terms.own_rows}
    return [(word, score) for word, score in near if word not in own][:topn]


def best_products(
    vectors: Vectors, terms: Terms, topn: int | None, rows: slice
) -> SimilarWords | Float32Array:
    """The `topn` words with the largest product of cosines (3CosMul); None returns all products."""
    if not is_wanted(topn):
        return []
    products = cosine_products(vectors.take(rows), l2_normalize(terms.directions), terms.weights)
    if topn is None:
        return products
    best = top_k(products, min(int(topn) + len(terms.own_rows), len(products)))
    pairs = zip(best.tolist(), products[best].tolist(), strict=True)
    return [(vectors.keys[row], score) for row, score in pairs if row not in terms.own_rows][:topn]
