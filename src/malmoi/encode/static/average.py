"""Texts as averages of word vectors: plain, weighted by idf, or by SIF.

SIF (Arora, Liang and Ma: *A Simple but Tough-to-Beat Baseline for Sentence Embeddings*, 2017)
weights a word by a / (a + p(word)) and removes from each text the direction that all texts have in
common: the first singular vector of the averages of some texts.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import SupportsFloat

import numpy as np
import numpy.typing as npt

from malmoi.arguments import expect_number
from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.pipeline.encode_call import StreamEncoder
from malmoi.encode.static.word_weights import WordWeighting, WordWeights, weigh_words
from malmoi.encode.static.words import WordStats, choose_tokenizer, look_up, words_of
from malmoi.encode.tokens.chunks import CHUNK_CHARACTERS, chunks
from malmoi.encode.tokens.inputs import normalize_texts
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.text.tokenizers import Tokenizer
from malmoi.text_inputs import TextLike
from malmoi.vectors import Vectors, expect_vectors

CHUNK_TEXTS = 2048  # texts that are averaged together
BLOCK_WORDS = 1 << 15  # whose vectors are summed at once
TextSource = str | Path | Iterable[str]  # a file of texts, or texts


@dataclass(frozen=True, eq=False, repr=False)
class AverageEncoder(StreamEncoder):
    """Averages word vectors; see `average_encoder`.

    `common` [dim] is the direction that is removed from each text, if there is one.
    """

    name: str
    vectors: Vectors
    tokenizer: Tokenizer
    weighting: WordWeighting
    weights: WordWeights
    common: Float32Array | None = None

    @property
    def dim(self) -> int:
        """The dimension of a text's vector."""
        return self.vectors.dim

    def stream(
        self, texts: Iterable[TextLike], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Iterator[Float32Array]:
        """The vectors of `encode` in chunks, each as soon as it is ready."""
        stats = WordStats()
        for chunk in map(normalize_texts, chunks(texts, CHUNK_TEXTS, CHUNK_CHARACTERS)):
            rows = self._averages(chunk, stats)
            yield rows if self.common is None else without(rows, self.common)
        reporter.inputs(self.name, stats)

    def _averages(self, texts: list[str], stats: WordStats) -> Float32Array:
        """1/n Σ weight · vector over the n known words of each text; without any, zeros."""
        documents = list(words_of(texts, self.tokenizer))
        numbers: dict[str, int] = {}
        ids = np.array(
            [numbers.setdefault(word, len(numbers)) for word in chain(*documents)], np.int64
        )
        words, sizes = list(numbers), np.array(list(map(len, documents)), np.int64)
        rows, table, known = look_up(self.vectors, words)
        table *= self.weights(words, rows)[:, np.newaxis]
        owners = np.repeat(np.arange(len(texts)), sizes)
        count = np.bincount(owners[known[ids]], minlength=len(texts))
        stats.count(sizes, count)
        stats.remember([words[i] for i in np.flatnonzero(~known)])
        sums = sum_rows(table, ids, owners, len(texts))
        averages: Float32Array = (sums / np.maximum(count, 1)[:, np.newaxis]).astype(np.float32)
        return averages

    def __repr__(self) -> str:
        source = f" by {self.weights.source}" if self.weights.source else ""
        sizes = f"{len(self.vectors):,} words × {self.dim}"
        removed = ", without the common direction" if self.common is not None else ""
        return f"AverageEncoder({self.name}, {sizes}, {self.weighting}{source}{removed})"


def average_encoder(
    vectors: Vectors,
    *,
    weighting: WordWeighting = "sif",
    texts: TextSource | None = None,
    tokenizer: str | Tokenizer | None = None,
    smoothing: float = 1e-3,
    name: str = "vectors",
) -> AverageEncoder:
    """An encoder that averages the vectors of a text's words.

    Args:
        vectors: Word vectors. Without counts, rows must be in order of frequency.
        weighting: `mean`, `idf` or `sif` (smooth inverse frequency).
        texts: Texts, or a file of them, to learn idf and the common direction of SIF from.
            Without them idf follows word frequencies, and SIF removes no direction.
        tokenizer: A tokenizer or its name; by default that of the vectors' training.
        smoothing: The parameter a of SIF.
        name: The name in warnings.

    Returns:
        The encoder.

    Raises:
        InvalidArgumentError: There are no vectors, or an argument is invalid.
    """
    expect_vectors(vectors)
    expect_number(smoothing, SupportsFloat, "smoothing", "a number")
    if not smoothing > 0:
        raise InvalidArgumentError(f"smoothing is {smoothing}: it must be more than 0")
    if len(vectors) == 0:
        raise InvalidArgumentError(f"{name} contains no vectors to average")
    chosen = choose_tokenizer(vectors, tokenizer)
    corpus = None if texts is None else _corpus(texts)
    documents = None if corpus is None else words_of(corpus, chosen)
    weights = weigh_words(vectors, weighting, documents, smoothing)
    encoder = AverageEncoder(name, vectors, chosen, weighting, weights)
    if weighting == "sif" and corpus is not None:
        return replace(encoder, common=common_direction(encoder, corpus))
    return encoder


def common_direction(encoder: AverageEncoder, texts: Iterable[str]) -> Float32Array:
    """The first right singular vector of the averages of texts, [dim]; nothing is centred."""
    products, stats = np.zeros((encoder.dim, encoder.dim)), WordStats()
    for chunk in map(normalize_texts, chunks(texts, CHUNK_TEXTS, CHUNK_CHARACTERS)):
        rows = encoder._averages(chunk, stats).astype(np.float64)
        products += rows.T @ rows
    if stats.texts == stats.empty:
        raise InvalidArgumentError(
            "the texts to learn SIF from have no known word: pass other texts"
        )
    first: Float32Array = np.linalg.eigh(products)[1][:, -1].astype(np.float32)
    return first


def without(rows: Float32Array, direction: Float32Array) -> Float32Array:
    """Rows without their component in a direction of length 1."""
    removed: Float32Array = rows - np.outer(rows @ direction, direction)
    return removed


def sum_rows(
    table: Float32Array, ids: Int64Array, owners: Int64Array, count: int
) -> npt.NDArray[np.float64]:
    """The sum of the table's rows `ids` for each owner, in ascending order; [count, dim]."""
    sums = np.zeros((count, table.shape[1]))
    for start in range(0, len(ids), BLOCK_WORDS):
        block = owners[start : start + BLOCK_WORDS]
        firsts = np.flatnonzero(np.diff(block, prepend=-1))
        sums[block[firsts]] += np.add.reduceat(
            table[ids[start : start + BLOCK_WORDS]], firsts, axis=0
        )
    return sums


def _corpus(texts: TextSource) -> Iterable[str]:
    from malmoi.text.corpus import Corpus  # slow to import; only needed to learn

    return Corpus.of(texts)
