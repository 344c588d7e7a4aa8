"""Candidates for negatives: the texts nearest to queries, from a list of texts or from an index."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.pipeline.prompts import own_prompts, with_prompt
from malmoi.encode.protocol import Encoder
from malmoi.nearest.top_k import rank_rows
from malmoi.reporting.reporter import Reporter
from malmoi.search.fingerprint import document_encoder, query_encoder
from malmoi.search.index import Index
from malmoi.vectors import Vectors, l2_normalize


class Candidate(NamedTuple):
    """A text and its cosine with the query."""

    text: str
    score: float


class CandidateSource(Protocol):
    """Finds the texts nearest to queries."""

    def nearest(self, queries: Sequence[str], k: int) -> Iterator[list[Candidate]]:
        """The k texts nearest to each query, best first."""

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The cosine of each query with a text."""


class TextCandidates:
    """Candidates from a list of texts, embedded once; equal texts are one."""

    def __init__(self, encoder: Encoder, texts: Sequence[str], reporter: Reporter) -> None:
        prompts = own_prompts(encoder)
        self.reporter = reporter
        self.query_encoder = with_prompt(encoder, prompts.query)
        self.texts = list(dict.fromkeys(texts))
        self.rows = {text: row for row, text in enumerate(self.texts)}
        matrix = with_prompt(encoder, prompts.document).encode(self.texts, reporter=reporter)
        self.vectors = Vectors([str(row) for row in range(len(matrix))], l2_normalize(matrix))

    def nearest(self, queries: Sequence[str], k: int) -> Iterator[list[Candidate]]:
        """The k texts nearest to each query, best first."""
        ranking = rank_rows(self.vectors, self._directions(queries), k)
        for rows, scores in zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True):
            yield [Candidate(self.texts[r], s) for r, s in zip(rows, scores, strict=True)]

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The cosine of each query with one of the texts."""
        directions = self._directions([query for query, _ in pairs])
        rows = [self.rows[text] for _, text in pairs]
        return _dots(directions, self.vectors.matrix[rows])

    def _directions(self, queries: Sequence[str]) -> Float32Array:
        return _unit_vectors(self.query_encoder, queries, self.reporter)


class IndexCandidates:
    """Candidates from an index; a long text is as near as the nearest of its passages."""

    def __init__(self, index: Index, reporter: Reporter) -> None:
        self.index, self.reporter = index, reporter

    def nearest(self, queries: Sequence[str], k: int) -> Iterator[list[Candidate]]:
        """The k texts nearest to each query, best first; equal texts are one."""
        for direction in self._directions(queries):
            hits = self.index.search(direction, k) if direction.any() else []
            best: dict[str, float] = {}
            for hit in hits:
                best.setdefault(hit.text, hit.score)
            yield [Candidate(text, score) for text, score in best.items()]

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The cosine of each query with a text, which need not be in the index."""
        encoder = document_encoder(self.index.encoder, self.index.state)
        texts = _unit_vectors(encoder, [text for _, text in pairs], self.reporter)
        return _dots(self._directions([query for query, _ in pairs]), texts)

    def _directions(self, queries: Sequence[str]) -> Float32Array:
        encoder = query_encoder(self.index.encoder, self.index.state)
        return _unit_vectors(encoder, queries, self.reporter)


class Judge:
    """A second encoder that scores queries with texts; each text is embedded once."""

    def __init__(self, encoder: Encoder, reporter: Reporter) -> None:
        prompts = own_prompts(encoder)
        self.reporter = reporter
        self.encoders = [with_prompt(encoder, text) for text in (prompts.query, prompts.document)]
        self._vectors: list[dict[str, Float32Array]] = [{}, {}]

    def learn(self, queries: Sequence[str], texts: Sequence[str]) -> None:
        """Embed what will be scored."""
        for known, encoder, given in zip(
            self._vectors, self.encoders, (queries, texts), strict=True
        ):
            new = [text for text in dict.fromkeys(given) if text not in known]
            if new:
                known |= zip(new, _unit_vectors(encoder, new, self.reporter), strict=True)

    def __call__(self, query: str, text: str) -> float:
        """The cosine of a query and a text that were learned."""
        return float(self._vectors[0][query] @ self._vectors[1][text])


def _unit_vectors(encoder: Encoder, texts: Sequence[str], reporter: Reporter) -> Float32Array:
    """One unit vector per text; each different text is encoded once."""
    unique = list(dict.fromkeys(texts))
    rows = {text: row for row, text in enumerate(unique)}
    matrix = l2_normalize(encoder.encode(unique, reporter=reporter))
    vectors: Float32Array = matrix[[rows[text] for text in texts]]
    return vectors


def _dots(one: Float32Array, other: Float32Array) -> list[float]:
    dots: list[float] = np.einsum("nd,nd->n", one, other, dtype=np.float64).tolist()
    return dots
