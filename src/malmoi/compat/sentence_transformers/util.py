"""Similarities and semantic search between embeddings, as in `sentence_transformers.util`.

Embeddings are NumPy arrays, lists or torch tensors; the result is a tensor if an argument is one,
else a NumPy array.
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError
from malmoi.vectors import l2_normalize

Similarity = Callable[[Any, Any], Any]  # of [n, dim] and [m, dim], or of equally many rows


def cos_sim(a: Any, b: Any) -> Any:
    """The cosine of each row of `a` with each row of `b`, [n, m]."""
    return _like(a, b, l2_normalize(_rows(a)) @ l2_normalize(_rows(b)).T)


pytorch_cos_sim = cos_sim


def dot_score(a: Any, b: Any) -> Any:
    """The dot product of each row of `a` with each row of `b`, [n, m]."""
    return _like(a, b, _rows(a) @ _rows(b).T)


def euclidean_sim(a: Any, b: Any) -> Any:
    """The negative Euclidean distance between each row of `a` and each row of `b`, [n, m]."""
    return _like(a, b, _by_row(a, b, lambda gaps: -np.sqrt((gaps * gaps).sum(axis=1))))


def manhattan_sim(a: Any, b: Any) -> Any:
    """The negative Manhattan distance between each row of `a` and each row of `b`, [n, m]."""
    return _like(a, b, _by_row(a, b, lambda gaps: -np.abs(gaps).sum(axis=1)))


def pairwise_cos_sim(a: Any, b: Any) -> Any:
    """The cosine of each row of `a` with the same row of `b`, [n]."""
    return _like(a, b, (l2_normalize(_rows(a)) * l2_normalize(_rows(b))).sum(axis=1))


def pairwise_dot_score(a: Any, b: Any) -> Any:
    """The dot product of each row of `a` with the same row of `b`, [n]."""
    return _like(a, b, (_rows(a) * _rows(b)).sum(axis=1))


def normalize_embeddings(embeddings: Any) -> Any:
    """Each row scaled to length one."""
    return _like(embeddings, embeddings, l2_normalize(_rows(embeddings)))


def semantic_search(
    query_embeddings: Any,
    corpus_embeddings: Any,
    query_chunk_size: int = 100,
    corpus_chunk_size: int = 500_000,
    top_k: int = 10,
    score_function: Similarity = cos_sim,
) -> list[list[dict[str, int | float]]]:
    """The best rows of the corpus for each query.

    Args:
        query_embeddings: [queries, dim], or a single query.
        corpus_embeddings: [texts, dim].
        query_chunk_size: How many queries to compare at a time.
        corpus_chunk_size: How many texts to compare at a time.
        top_k: How many texts to return per query.
        score_function: A similarity of this module, or a function like it.

    Returns:
        Per query a list of {"corpus_id", "score"}, best first.

    Raises:
        InvalidArgumentError: A size is below 1.
    """
    if min(query_chunk_size, corpus_chunk_size, top_k) < 1:
        raise InvalidArgumentError("query_chunk_size, corpus_chunk_size and top_k must be >= 1")
    queries, corpus = _rows(query_embeddings), _rows(corpus_embeddings)
    if score_function is cos_sim:
        queries, corpus, score_function = l2_normalize(queries), l2_normalize(corpus), dot_score
    results: list[list[dict[str, int | float]]] = []
    for some in _chunks(queries, query_chunk_size):
        ids = np.empty((len(some), 0), np.int64)
        scores = np.empty((len(some), 0), np.float32)
        for start in range(0, len(corpus), corpus_chunk_size):
            part = np.asarray(score_function(some, corpus[start : start + corpus_chunk_size]))
            best = _best(part, top_k)
            ids = np.hstack([ids, best + start])
            scores = np.hstack([scores, np.take_along_axis(part, best, axis=1)])
        order = _best(scores, top_k)
        for row, at in enumerate(order):
            hits = zip(ids[row, at].tolist(), scores[row, at].tolist(), strict=True)
            results.append([{"corpus_id": id, "score": score} for id, score in hits])
    return results


def paraphrase_mining(
    model: Any, sentences: list[str], *, max_pairs: int = 500_000, top_k: int = 100, **encode: Any
) -> list[list[float | int]]:
    """The pairs of sentences that are most similar.

    Args:
        model: A `SentenceTransformer` of this package.
        sentences: The sentences to compare with each other.
        max_pairs: How many pairs to return at most.
        top_k: How many pairs to consider per sentence.
        **encode: Arguments of `model.encode`.

    Returns:
        [score, position, position] per pair, best first.
    """
    embeddings = model.encode(sentences, **encode)
    pairs: dict[tuple[int, int], float] = {}
    for one, hits in enumerate(semantic_search(embeddings, embeddings, top_k=top_k + 1)):
        for hit in hits:
            other = int(hit["corpus_id"])
            if other != one:
                pairs[min(one, other), max(one, other)] = float(hit["score"])
    ordered = sorted(pairs.items(), key=lambda item: -item[1])[:max_pairs]
    return [[score, one, other] for (one, other), score in ordered]


def _best(scores: Float32Array, count: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The columns of the highest scores of each row, best first."""
    count = min(count, scores.shape[1])
    some = np.argpartition(-scores, count - 1, axis=1)[:, :count] if count else scores[:, :0]
    chosen = some.astype(np.int64)
    order = np.argsort(-np.take_along_axis(scores, chosen, axis=1), axis=1, kind="stable")
    return np.take_along_axis(chosen, order, axis=1)


def _chunks(rows: Float32Array, size: int) -> Iterator[Float32Array]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _by_row(a: Any, b: Any, score: Callable[[Float32Array], Float32Array]) -> Float32Array:
    """`score` of the differences between each row of `a` and all rows of `b`, [n, m]."""
    others = _rows(b)
    return np.stack([score(row - others) for row in _rows(a)])


def _rows(embeddings: Any) -> Float32Array:
    """Embeddings as [n, dim]; a single one is a row."""
    if isinstance(embeddings, list) and embeddings and is_tensor(embeddings[0]):
        embeddings = [each.detach().cpu().numpy() for each in embeddings]
    elif is_tensor(embeddings):
        embeddings = embeddings.detach().cpu().numpy()
    return np.atleast_2d(np.asarray(embeddings, dtype=np.float32))


def is_tensor(value: Any) -> bool:
    """Whether a value is a torch tensor; torch is not imported to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _like(a: Any, b: Any, result: Float32Array) -> Any:
    """The result as a tensor if an argument is one or a list of them."""
    for value in (a, b):
        if is_tensor(value) or (isinstance(value, list) and value and is_tensor(value[0])):
            return sys.modules["torch"].from_numpy(result)
    return result
