"""Where a training of word vectors starts: at random, or from vectors that exist already."""

from dataclasses import asdict, replace

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int32Array, Int64Array
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.parsing.scan_words import renumber
from malmoi.kernels.word2vec.rows import aligned_rows, padded_width
from malmoi.kernels.word2vec.train_words import WordNetwork
from malmoi.reporting.reporter import Reporter
from malmoi.subwords import SubwordVectors
from malmoi.text.encoded import EncodedCorpus
from malmoi.train.common.options import matching_rows
from malmoi.train.word2vec.input_rows import InputRows
from malmoi.train.word2vec.settings import WordSettings
from malmoi.vectors import Vectors
from malmoi.vocabulary import Vocabulary

BLOCK_ROWS = 65_536  # rows initialized at a time


def merge_vocabulary(
    init_vectors: Vectors, corpus: EncodedCorpus, reporter: Reporter
) -> EncodedCorpus:
    """The corpus with the words of both and the sum of their counts."""
    tokenizer = init_vectors.meta.get("tokenizer", corpus.tokenizer)
    if tokenizer != corpus.tokenizer:
        reporter.warn(
            f"the words of init_vectors come from the tokenizer {tokenizer}, those of this text"
            f" from {corpus.tokenizer}: only equal words are merged"
        )
    known = init_vectors.counts
    counts = np.ones(len(init_vectors), np.int64) if known is None else np.asarray(known)
    merged = Vocabulary(init_vectors.keys, counts).merged(corpus.vocabulary)
    new_ids = merged.words.find_all(corpus.vocabulary.words).astype(np.uint32)
    ids = np.array(corpus.ids)
    renumber(ids, new_ids)
    return replace(corpus, ids=ids, vocabulary=merged)


def check_trainable(
    corpus: EncodedCorpus, settings: WordSettings, init_vectors: Vectors | None
) -> None:
    """Raise `InvalidArgumentError` for a vocabulary or initial vectors that cannot be trained."""
    if len(corpus.vocabulary) < 2:
        raise InvalidArgumentError(
            "the vocabulary has a single word, which cannot be trained: give more text, lower"
            " min_count or raise max_vocab_size"
        )
    if init_vectors is not None and init_vectors.dim != settings.dim:
        raise InvalidArgumentError(
            f"init_vectors have {init_vectors.dim} dimensions and the new vectors {settings.dim}:"
            f" set dim to {init_vectors.dim}"
        )


def random_rows(rows: int, dim: int, seed: int) -> Float32Array:
    """Small random rows, uniform in ± 1 / dim as in gensim and fastText, padded with zeros.

    word2vec.c uses half of that. At low learning rates the difference stays: rows grow by what
    they are multiplied with.
    """
    matrix = aligned_rows(rows, padded_width(dim))
    random = np.random.default_rng(seed)
    for first in range(0, rows, BLOCK_ROWS):
        block = matrix[first : first + BLOCK_ROWS, :dim]
        block[:] = (2 * random.random(block.shape, dtype=np.float32) - 1) / dim
    return matrix


def copy_init_vectors(
    init_vectors: Vectors,
    network: WordNetwork,
    rows: InputRows,
    vocabulary: Vocabulary,
    settings: WordSettings,
    reporter: Reporter,
) -> npt.NDArray[np.bool_]:
    """Let the network start from vectors; returns for each word whether it has one there."""
    sources = matching_rows(init_vectors, vocabulary.words, reporter)
    inputs = network.inputs
    if not len(rows.used_buckets):
        copy_rows(inputs, init_vectors.matrix, sources)
    elif isinstance(init_vectors, SubwordVectors):
        copy_rows(inputs, init_vectors.word_rows, sources)
        buckets = matching_buckets(rows.used_buckets, init_vectors, settings)
        copy_rows(inputs[rows.words :], init_vectors.bucket_rows, buckets)
    else:
        shift_means(inputs, rows, init_vectors.matrix, sources)
    if init_vectors.context_matrix is not None and has_same_outputs(
        init_vectors, vocabulary, settings
    ):
        copy_rows(network.outputs, init_vectors.context_matrix, sources)
    return sources >= 0


def has_same_outputs(init_vectors: Vectors, vocabulary: Vocabulary, settings: WordSettings) -> bool:
    """Whether output rows are of words on both sides, or of the same Huffman tree."""
    had_tree = "hierarchical-softmax" in init_vectors.meta.get("settings", "")
    if settings.loss == "negative-sampling":
        return not had_tree
    return (
        had_tree
        and init_vectors.counts is not None
        and init_vectors.keys == vocabulary.words
        and np.array_equal(init_vectors.counts, vocabulary.counts)
    )


def matching_buckets(
    used_buckets: Int32Array, init_vectors: SubwordVectors, settings: WordSettings
) -> Int64Array:
    """The row of each bucket in `init_vectors.bucket_rows`; −1 where it has none."""
    subwords = getattr(settings, "subwords", init_vectors.subwords)
    if init_vectors.subwords != subwords:
        old, new = asdict(init_vectors.subwords), asdict(subwords)
        name = next(name for name in new if old[name] != new[name])
        raise InvalidArgumentError(
            f"init_vectors have other n-grams, with {name} {old[name]} instead of {new[name]}:"
            f" set {name} to {old[name]}"
        )
    kept = init_vectors.kept_buckets
    if kept is None:
        return used_buckets.astype(np.int64)
    if not len(kept):
        return np.full(len(used_buckets), -1)
    rows = np.minimum(np.searchsorted(kept, used_buckets), len(kept) - 1)
    return np.where(kept[rows] == used_buckets, rows, -1)


def copy_rows(target: Float32Array, source: Float32Array, rows: Int64Array) -> None:
    """Set row i of `target` to `source[rows[i]]`, unless that is −1."""
    known = np.flatnonzero(rows >= 0)
    target[known, : source.shape[1]] = source[rows[known]]


def shift_means(
    inputs: Float32Array, rows: InputRows, vectors: Float32Array, sources: Int64Array
) -> None:
    """Shift words' own rows so that with their n-grams the mean is `vectors[sources[i]]`."""
    known, dim = np.flatnonzero(sources >= 0), vectors.shape[1]
    sizes = np.diff(rows.starts)[known, None].astype(np.float32)
    inputs[known, :dim] += sizes * (vectors[sources[known]] - rows.means(inputs)[known, :dim])
