"""Co-occurrence counts of words, in bounded memory, as a sparse matrix.

The counter builds the matrix row by row: it looks up the positions of a word and sums the words
around them. It writes finished rows to temporary files at once.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import ceil, inf
from os import PathLike
from tempfile import TemporaryFile, gettempdir
from typing import IO, Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from malmoi.arguments import check_numbers, settings_or_default
from malmoi.arrays import Float64Array, Int64Array, UInt32Array
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.kernels.counts.sparse_counts import Values, count_ids, count_rows, find_positions
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.kernels.threads import THREADS
from malmoi.models.cooccurrences import BLOCK_ENTRIES, Cooccurrences, spans
from malmoi.reporting.reporter import DEFAULT_REPORTER, Progress, Reporter, expect_reporter
from malmoi.text.encoded import EncodedCorpus, VocabularySettings
from malmoi.text.parallel import in_order
from malmoi.text.tokenizers import Tokenizer
from malmoi.train.common.inputs import TextInput, encode_text
from malmoi.vocabulary import Vocabulary

Context = Literal["both", "left", "right"]
WindowWeighting = Literal["distance", "flat"]
FolderPath = str | PathLike[str] | None  # None is the system's folder for temporary files

MAX_WINDOW = 10_000  # words
MEGABYTE = 10**6
ENTRY_BYTES = 8  # a column and a value
MAX_BLOCKS = 2 * THREADS + 2  # blocks of rows in memory: being counted or waiting to be written


@dataclass(frozen=True, kw_only=True)
class Cooccurrence:
    """How co-occurrences are counted.

    A `context` word is up to `window` words away, to the `left`, to the `right` or on `both`
    sides, and counts 1 (`flat`) or 1 / distance (`distance`). Windows skip words outside the
    vocabulary (`over_unknown`, as in word2vec and GloVe), or count their positions. Counting
    takes at most `memory_mb` megabytes. `min_count` and `max_vocab_size` choose the words of a
    text.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    window: int = 10
    """Maximum distance between word and context."""
    context: Context = "both"
    """Side of the window."""
    weighting: WindowWeighting = "distance"
    """A context counts 1 / distance, or 1."""
    across_lines: bool = False
    """Windows cross the ends of lines."""
    over_unknown: bool = True
    """Windows skip words outside the vocabulary."""
    memory_mb: float = 2048
    """Memory for counting, in megabytes."""
    min_count: int = 1
    """Ignore words with fewer occurrences."""
    max_vocab_size: int | None = None
    """Keep at most so many of the most frequent words."""

    def __post_init__(self) -> None:
        check_numbers(self)
        if not 1 <= self.window <= MAX_WINDOW:
            raise InvalidArgumentError(
                f"window is {self.window}: it must be from 1 to {MAX_WINDOW:,}"
            )
        for name, choices in (("context", Context), ("weighting", WindowWeighting)):
            if getattr(self, name) not in get_args(choices):
                raise InvalidArgumentError(
                    f"{name} must be one of {', '.join(get_args(choices))};"
                    f" got '{getattr(self, name)}'"
                )
        if not 0 < self.memory_mb < inf:
            raise InvalidArgumentError(
                f"memory_mb is {self.memory_mb:g}: it must be a number above 0"
            )
        _ = self.vocabulary  # checks its own settings

    @property
    def vocabulary(self) -> VocabularySettings:
        """Which words of a text are counted."""
        return VocabularySettings(min_count=self.min_count, max_vocab_size=self.max_vocab_size)

    @property
    def contexts_per_word(self) -> int:
        """The largest number of contexts of one occurrence."""
        return self.window * (2 if self.context == "both" else 1)

    @property
    def weights(self) -> Float64Array:
        """The weight of a context by its distance [window + 1]."""
        distances = np.arange(self.window + 1, dtype=np.float64)
        if self.weighting == "flat":
            return np.minimum(distances, 1)
        return np.divide(1, distances, out=distances, where=distances > 0)


class RowBlock(NamedTuple):
    """Finished rows: the number of entries of each, and the entries."""

    lengths: Int64Array
    columns: UInt32Array
    values: Values


def count_cooccurrences(
    text: TextInput,
    settings: Cooccurrence | None = None,
    *,
    tokenizer: Tokenizer | str | None = None,
    folder: FolderPath = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Cooccurrences:
    """Count how often each pair of words occurs together in a text.

    Args:
        text: Path of a file or folder; documents as strings or as lists of tokens, in a list, a
            generator, a Series or an array; a `Corpus` or an `EncodedCorpus`.
        settings: How to count; the defaults of `Cooccurrence` if not given.
        tokenizer: A tokenizer or its name, such as "korean"; splits at white space if not given.
        folder: Folder for temporary files, which hold the result and vanish with it.
        reporter: Receives progress and warnings.

    Returns:
        A sparse matrix of words by context words.

    Raises:
        InvalidArgumentError: The memory is too small for the text.
        InvalidFileError: The text cannot be read, or the temporary files cannot be written.
    """
    expect_reporter(reporter)
    settings = settings_or_default(settings, Cooccurrence)
    corpus = encode_text(text, settings.vocabulary, tokenizer, reporter)
    ids, counts = prepare_ids(corpus, settings, folder)
    blocks = count_row_blocks(ids, counts, settings)
    progress = reporter.stage("counting co-occurrences")
    return collect_rows(corpus.vocabulary, blocks, folder, progress)


def prepare_ids(
    corpus: EncodedCorpus, settings: Cooccurrence, folder: FolderPath
) -> tuple[UInt32Array, Int64Array]:
    """The ids of a corpus without those that windows skip, and the occurrences of each word."""
    ids, counts = corpus.ids, count_words(corpus.ids, corpus.vocabulary)
    dropped = [UNKNOWN] * settings.over_unknown + [LINE_END] * settings.across_lines
    if any(counts[mark - LINE_END - 1] for mark in dropped):
        ids = drop_ids(ids, dropped, folder)
    return np.asarray(ids), counts[:-2]


def count_words(ids: UInt32Array, vocabulary: Vocabulary) -> Int64Array:
    """The occurrences of each word in a stream of ids, then of UNKNOWN, then of LINE_END."""
    counts = np.zeros(len(vocabulary) + 2, dtype=np.int64)
    wrong = count_ids(np.asarray(ids), counts)
    if wrong >= 0:
        raise InvalidArgumentError(
            f"id {ids[wrong]} at position {wrong:,} is not in the vocabulary of"
            f" {len(vocabulary):,} words: encode the text with this vocabulary"
        )
    return counts


def drop_ids(ids: UInt32Array, dropped: list[int], folder: FolderPath) -> UInt32Array:
    """The stream of ids without some of them, in a temporary file."""
    with temporary_file(folder) as file:
        for first in range(0, len(ids), BLOCK_ENTRIES):
            block = ids[first : first + BLOCK_ENTRIES]
            file.write(block[~np.isin(block, dropped)].data)
        return mapped(file, np.uint32)


def count_row_blocks(
    ids: UInt32Array, counts: Int64Array, settings: Cooccurrence
) -> Iterator[RowBlock]:
    """Yield blocks of rows, from the positions of as many words at a time as memory allows."""
    max_positions, _ = memory_limits(counts, position_dtype(ids), settings)
    for span in spans(counts, max_positions):
        yield from count_span(ids, counts, settings, span)


def count_span(
    ids: UInt32Array, counts: Int64Array, settings: Cooccurrence, span: tuple[int, int]
) -> Iterator[RowBlock]:
    """Yield blocks of the rows of the words from one to another, all positions of them at once."""
    first, last = span
    _, max_entries = memory_limits(counts, position_dtype(ids), settings)
    bounds = np.r_[0, np.cumsum(counts[first:last])]
    positions = np.empty(bounds[-1], dtype=position_dtype(ids))
    find_positions(ids, first, last, bounds[:-1].copy(), positions)
    count = partial(count_block, ids, positions, bounds, len(counts), settings)
    contexts = max_contexts(counts[first:last], len(counts), settings)
    yield from in_order(count, spans(contexts, max_entries))


def position_dtype(ids: UInt32Array) -> np.dtype[Any]:
    """The type of positions in a stream of ids."""
    return np.dtype(np.uint32 if len(ids) < 2**32 else np.int64)


def count_block(
    ids: UInt32Array,
    positions: UInt32Array,
    bounds: Int64Array,
    words: int,
    settings: Cooccurrence,
    rows: tuple[int, int],
) -> RowBlock:
    """Count a block of rows; row i has the positions from `bounds[i]` to `bounds[i + 1]`."""
    bounds = bounds[rows[0] : rows[1] + 1]
    entries = max_contexts(np.diff(bounds), words, settings).sum()
    columns = np.empty(entries, dtype=np.uint32)
    values = np.empty(entries, dtype=np.uint32 if settings.weighting == "flat" else np.float32)
    starts = np.zeros(len(bounds), dtype=np.int64)
    left, right = settings.context != "right", settings.context != "left"
    sums, marks = np.zeros(words), np.zeros(words // 64 + 1, dtype=np.uint64)
    count_rows(
        ids, positions, bounds, settings.weights, left, right, sums, marks, columns, values, starts
    )
    return RowBlock(np.diff(starts), columns[: starts[-1]], values[: starts[-1]])


def max_contexts(counts: Int64Array, words: int, settings: Cooccurrence) -> Int64Array:
    """The largest number of different contexts of each word, given its occurrences."""
    return np.minimum(settings.contexts_per_word * counts, words)


def memory_limits(
    counts: Int64Array, positions: np.dtype[Any], settings: Cooccurrence
) -> tuple[int, int]:
    """How many positions, and how many entries of a block, fit into the memory."""
    words, top_count = len(counts), counts.max(initial=0)
    if settings.weighting == "flat" and settings.contexts_per_word * top_count >= 2**32:
        raise InvalidArgumentError(
            f"a word occurs {top_count:,} times, more than flat counts can hold with a window of"
            f" {settings.window}: use weighting='distance'"
        )
    half = int(settings.memory_mb * MEGABYTE / 2)
    state = 9 * words  # bytes of sums and marks per block
    longest_row = max_contexts(top_count, words, settings) * ENTRY_BYTES
    needed = max(top_count * positions.itemsize, MAX_BLOCKS * (longest_row + state))
    if half < needed:
        raise InvalidArgumentError(
            f"memory_mb is {settings.memory_mb:g}: {words:,} words on {THREADS} threads need"
            f" at least {ceil(2 * needed / MEGABYTE):,}"
        )
    entries = (half // MAX_BLOCKS - state) // ENTRY_BYTES
    return half // positions.itemsize, min(entries, max(BLOCK_ENTRIES, 4 * words))


def collect_rows(
    vocabulary: Vocabulary, blocks: Iterable[RowBlock], folder: FolderPath, progress: Progress
) -> Cooccurrences:
    """Write blocks of rows to temporary files, one after the other."""
    lengths: list[Int64Array] = [np.zeros(1, dtype=np.int64)]
    done = np.r_[0, np.cumsum(vocabulary.counts)]
    rows, dtype = 0, np.dtype(np.float32)
    with temporary_file(folder) as columns, temporary_file(folder) as values:
        for block in blocks:
            columns.write(block.columns.data)
            values.write(block.values.data)
            lengths.append(block.lengths)
            rows, dtype = rows + len(block.lengths), block.values.dtype
            progress(int(done[rows]), int(done[-1]))
        return Cooccurrences(
            vocabulary,
            np.cumsum(np.concatenate(lengths)),
            mapped(columns, np.uint32),
            mapped(values, dtype),
        )


@contextmanager
def temporary_file(folder: FolderPath) -> Iterator[IO[bytes]]:
    """Open an unnamed file, which is deleted once it is neither open nor mapped."""
    try:
        with TemporaryFile(dir=folder) as file:
            yield file
    except OSError as error:
        raise InvalidFileError(
            f"cannot write the counts to {folder or gettempdir()}: {error.strerror or error};"
            " name another folder for temporary files"
        ) from error


def mapped(file: IO[bytes], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """The whole file as a memory-mapped array."""
    file.flush()
    if file.tell() == 0:
        return np.empty(0, dtype)
    return np.memmap(file, dtype, mode="r").view(np.ndarray)
