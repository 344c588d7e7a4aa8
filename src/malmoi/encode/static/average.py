"""Texts as the average of their words' vectors: plain, by idf, or by SIF.

SIF (Arora, Liang and Ma: *A Simple but Tough-to-Beat Baseline for Sentence Embeddings*, 2017)
weighs a word by a / (a + p(word)) and takes out of each text the direction that all have in
common: the first singular vector of the averages of given texts.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.bulk.chunks import CHARACTERS, chunks
from malmoi.encode.protocol import encode_stream
from malmoi.encode.static.word_lookup import WordStats, look_up
from malmoi.encode.static.word_tokenizer import choose_tokenizer, words_of
from malmoi.encode.static.word_weights import Weighting, WordWeights, weigh_words
from malmoi.encode.tokens.inputs import uniform_texts
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.text.tokenizers import Tokenizer
from malmoi.vectors import Vectors

CHUNK = 2048  # texts that are averaged together
BLOCK = 1 << 15  # words whose vectors are summed at once
Texts = str | Path | Iterable[str]  # a file of texts, or texts


@dataclass(frozen=True, eq=False, repr=False)
class AverageEncoder:
    """Word vectors, how texts are cut, and how much each word counts.

    `common` [dim] is the direction that is taken out of each text, if there is one.
    """

    name: str
    vectors: Vectors
    tokenizer: Tokenizer
    weighting: Weighting
    weights: WordWeights
    common: Float32Array | None = None

    @property
    def dim(self) -> int:
        """How many numbers the vector of a text has."""
        return self.vectors.dim

    def encode(self, texts: Iterable[str], *, progress: Progress = no_progress) -> Float32Array:
        """A vector a text, [texts, dim]; unknown words and texts without a known one are told."""
        return encode_stream(self, texts, progress)

    def stream(self, texts: Iterable[str]) -> Iterator[Float32Array]:
        """The same in chunks, each as soon as it is ready."""
        notes = WordStats()
        for chunk in map(uniform_texts, chunks(texts, CHUNK, CHARACTERS)):
            rows = self._averages(chunk, notes)
            yield rows if self.common is None else without(rows, self.common)
        notes.report(self.name)

    def _averages(self, texts: list[str], notes: WordStats) -> Float32Array:
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
        notes.count(sizes, count)
        notes.remember([words[i] for i in np.flatnonzero(~known)])
        sums = summed(table, ids, owners, len(texts))
        averages: Float32Array = (sums / np.maximum(count, 1)[:, np.newaxis]).astype(np.float32)
        return averages

    def __repr__(self) -> str:
        source = f" by {self.weights.source}" if self.weights.source else ""
        sizes = f"{len(self.vectors):,} words × {self.dim}"
        less = ", less what all have in common" if self.common is not None else ""
        return f"AverageEncoder({self.name}, {sizes}, {self.weighting}{source}{less})"


def average_encoder(
    vectors: Vectors,
    *,
    weighting: Weighting = "sif",
    texts: Texts | None = None,
    tokenizer: str | Tokenizer | None = None,
    smoothing: float = 1e-3,
    name: str = "vectors",
) -> AverageEncoder:
    """An encoder that averages the vectors of a text's words.

    `weighting` is `mean`, `idf` or `sif`, whose a is `smoothing`. `texts`, or a file of them,
    are what idf and the common direction of SIF are learnt from; without them idf goes by how
    often words occur, and SIF takes nothing out. Vectors without counts are taken to stand in
    order of frequency. `tokenizer` is one by its name; by default the one the vectors were
    trained with.
    """
    if not smoothing > 0:
        raise InvalidArgumentError(f"smoothing is {smoothing}: it must be more than 0")
    if len(vectors) == 0:
        raise InvalidArgumentError(f"{name} holds no vectors to average")
    cut = choose_tokenizer(vectors, tokenizer)
    corpus = None if texts is None else _uniform_texts(texts)
    documents = None if corpus is None else words_of(corpus, cut)
    weights = weigh_words(vectors, weighting, documents, smoothing)
    encoder = AverageEncoder(name, vectors, cut, weighting, weights)
    if weighting == "sif" and corpus is not None:
        return replace(encoder, common=common_direction(encoder, corpus))
    return encoder


def common_direction(encoder: AverageEncoder, texts: Iterable[str]) -> Float32Array:
    """The first right singular vector of the averages of texts, [dim]; nothing is centred."""
    products, notes = np.zeros((encoder.dim, encoder.dim)), WordStats()
    for chunk in map(uniform_texts, chunks(texts, CHUNK, CHARACTERS)):
        rows = encoder._averages(chunk, notes).astype(np.float64)
        products += rows.T @ rows
    if notes.texts == notes.empty:
        raise InvalidArgumentError(
            "the texts to learn SIF from have no known word: give other texts"
        )
    first: Float32Array = np.linalg.eigh(products)[1][:, -1].astype(np.float32)
    return first


def without(rows: Float32Array, direction: Float32Array) -> Float32Array:
    """Rows less their part in a direction of length 1."""
    less: Float32Array = rows - np.outer(rows @ direction, direction)
    return less


def summed(
    table: Float32Array, ids: Int64Array, owners: Int64Array, count: int
) -> npt.NDArray[np.float64]:
    """The sum of the table's rows `ids` for each owner, in ascending order; [count, dim]."""
    sums = np.zeros((count, table.shape[1]))
    for start in range(0, len(ids), BLOCK):
        block = owners[start : start + BLOCK]
        firsts = np.flatnonzero(np.diff(block, prepend=-1))
        sums[block[firsts]] += np.add.reduceat(table[ids[start : start + BLOCK]], firsts, axis=0)
    return sums


def _uniform_texts(texts: Texts) -> Iterable[str]:
    from malmoi.text.corpus import Corpus  # takes a moment, which only fitting takes

    return Corpus.of(texts)
