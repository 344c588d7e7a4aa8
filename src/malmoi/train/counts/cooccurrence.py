"""Which words stand beside which, how often: counted in bounded memory into a sparse matrix.

The matrix is made row by row: where a word stands is looked up, and what stands there beside
it is summed. Finished rows go to temporary files at once. Knows nothing of what the counts mean.
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

from malmoi.arrays import Float64Array, Int64Array, UInt32Array
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.kernels.counts.sparse_counts import Values, count_ids, count_rows, find_positions
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.kernels.threads import THREADS
from malmoi.models.cooccurrences import BLOCK, Cooccurrences, spans
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.text.parallel import in_order
from malmoi.vocabulary import Vocabulary

Context = Literal["both", "left", "right"]
Weighting = Literal["distance", "flat"]
Folder = str | PathLike[str] | None  # None is the system's folder for temporary files

FARTHEST = 10_000  # words
MEGABYTE = 10**6
ENTRY = 8  # bytes: a column and a value
AT_ONCE = 2 * THREADS + 2  # blocks of rows that are counted, or wait to be written


@dataclass(frozen=True, kw_only=True)
class Cooccurrence:
    """What counts as standing beside a word.

    A `context` word is up to `window` words away, to the `left`, to the `right` or on `both`
    sides, and counts 1 (`flat`) or 1 / distance (`distance`). Words outside the vocabulary are
    as if they were not there (`over_unknown`, as in word2vec and GloVe), or else take their
    place in the window. The whole takes at most `memory_mb` megabytes.
    """

    window: int = 10
    """How many words away is still beside."""
    context: Context = "both"
    """On which side."""
    weighting: Weighting = "distance"
    """Near words count more, or all the same."""
    across_lines: bool = False
    """Windows reach over the ends of lines."""
    over_unknown: bool = True
    """Words outside the vocabulary take no place in the window."""
    memory_mb: float = 2048
    """At most, in megabytes."""

    def __post_init__(self) -> None:
        if not 1 <= self.window <= FARTHEST:
            raise InvalidArgumentError(
                f"window is {self.window}: it reaches 1 to {FARTHEST:,} words far"
            )
        if self.context not in get_args(Context):
            raise InvalidArgumentError(
                f"'{self.context}' is no context: choose both, left or right"
            )
        if self.weighting not in get_args(Weighting):
            raise InvalidArgumentError(
                f"'{self.weighting}' is no weighting: choose distance or flat"
            )
        if not 0 < self.memory_mb < inf:
            raise InvalidArgumentError(f"memory_mb is {self.memory_mb:g}: give a number above 0")

    @property
    def reach(self) -> int:
        """How many words can stand beside one."""
        return self.window * (2 if self.context == "both" else 1)

    @property
    def weights(self) -> Float64Array:
        """What a context counts, by its distance."""
        distances = np.arange(self.window + 1, dtype=np.float64)
        if self.weighting == "flat":
            return np.minimum(distances, 1)
        return np.divide(1, distances, out=distances, where=distances > 0)


class Block(NamedTuple):
    """Rows that are done: how many entries each has, and the entries."""

    lengths: Int64Array
    columns: UInt32Array
    values: Values


def count_cooccurrences(
    ids: UInt32Array,
    vocabulary: Vocabulary,
    settings: Cooccurrence | None = None,
    *,
    folder: Folder = None,
    progress: Progress = no_progress,
) -> Cooccurrences:
    """What stands beside each word in a stream of ids: LINE_END after each line.

    The result lies in temporary files in `folder`, which vanish with it.
    """
    settings = settings or Cooccurrence()
    counts = count_words(ids, vocabulary)
    dropped = [UNKNOWN] * settings.over_unknown + [LINE_END] * settings.across_lines
    if any(counts[mark - LINE_END - 1] for mark in dropped):
        ids = without(ids, dropped, folder)
    blocks = counted_rows(np.asarray(ids), counts[:-2], settings)
    return gathered(vocabulary, blocks, folder, progress)


def count_words(ids: UInt32Array, vocabulary: Vocabulary) -> Int64Array:
    """How often each word stands in the stream, then UNKNOWN, then LINE_END."""
    counts = np.zeros(len(vocabulary) + 2, dtype=np.int64)
    wrong = count_ids(np.asarray(ids), counts)
    if wrong >= 0:
        raise InvalidArgumentError(
            f"id {ids[wrong]} at place {wrong:,} is none of the vocabulary's"
            f" {len(vocabulary):,}: encode the text with this vocabulary"
        )
    return counts


def without(ids: UInt32Array, dropped: list[int], folder: Folder) -> UInt32Array:
    """The stream without some of its ids, in a temporary file."""
    with temporary_file(folder) as file:
        for first in range(0, len(ids), BLOCK):
            block = ids[first : first + BLOCK]
            file.write(block[~np.isin(block, dropped)].data)
        return mapped(file, np.uint32)


def counted_rows(ids: UInt32Array, counts: Int64Array, settings: Cooccurrence) -> Iterator[Block]:
    """Blocks of rows; as many words' positions are looked up at a time as there is room for."""
    place = np.dtype(np.uint32 if len(ids) < 2**32 else np.int64)
    positions_room, block_room = rooms(counts, place, settings)
    for first, last in spans(counts, positions_room):
        bounds = np.r_[0, np.cumsum(counts[first:last])]
        positions = np.empty(bounds[-1], dtype=place)
        find_positions(ids, first, last, bounds[:-1].copy(), positions)
        count = partial(count_block, ids, positions, bounds, len(counts), settings)
        most = most_contexts(counts[first:last], len(counts), settings)
        yield from in_order(count, spans(most, block_room))


def count_block(
    ids: UInt32Array,
    positions: UInt32Array,
    bounds: Int64Array,
    words: int,
    settings: Cooccurrence,
    rows: tuple[int, int],
) -> Block:
    """Some rows; `bounds` says between which positions each of them has its own."""
    bounds = bounds[rows[0] : rows[1] + 1]
    room = most_contexts(np.diff(bounds), words, settings).sum()
    columns = np.empty(room, dtype=np.uint32)
    values = np.empty(room, dtype=np.uint32 if settings.weighting == "flat" else np.float32)
    starts = np.zeros(len(bounds), dtype=np.int64)
    left, right = settings.context != "right", settings.context != "left"
    sums, marks = np.zeros(words), np.zeros(words // 64 + 1, dtype=np.uint64)
    count_rows(
        ids, positions, bounds, settings.weights, left, right, sums, marks, columns, values, starts
    )
    return Block(np.diff(starts), columns[: starts[-1]], values[: starts[-1]])


def most_contexts(counts: Int64Array, words: int, settings: Cooccurrence) -> Int64Array:
    """How many different words can at most stand beside each, seen so many times."""
    return np.minimum(settings.reach * counts, words)


def rooms(counts: Int64Array, place: np.dtype[Any], settings: Cooccurrence) -> tuple[int, int]:
    """How many positions, and how many entries of a block, there is memory for."""
    words, most = len(counts), counts.max(initial=0)
    if settings.weighting == "flat" and settings.reach * most >= 2**32:
        raise InvalidArgumentError(
            f"a word is there {most:,} times, more than flat counts can hold with a window of"
            f" {settings.window}: use weighting='distance'"
        )
    half = int(settings.memory_mb * MEGABYTE / 2)
    state = 9 * words  # bytes of sums and marks, beside each block
    longest = most_contexts(most, words, settings)
    least = max(most * place.itemsize, AT_ONCE * (longest * ENTRY + state))
    if half < least:
        raise InvalidArgumentError(
            f"memory_mb is {settings.memory_mb:g}: {words:,} words on {THREADS} threads take"
            f" at least {ceil(2 * least / MEGABYTE):,}"
        )
    entries = (half // AT_ONCE - state) // ENTRY
    return half // place.itemsize, min(entries, max(BLOCK, 4 * words))


def gathered(
    vocabulary: Vocabulary, blocks: Iterable[Block], folder: Folder, progress: Progress
) -> Cooccurrences:
    """Blocks of rows, written to temporary files one after the other."""
    lengths: list[Int64Array] = [np.zeros(1, dtype=np.int64)]
    done = np.r_[0, np.cumsum(vocabulary.counts)]
    rows, number = 0, np.dtype(np.float32)
    with temporary_file(folder) as columns, temporary_file(folder) as values:
        for block in blocks:
            columns.write(block.columns.data)
            values.write(block.values.data)
            lengths.append(block.lengths)
            rows, number = rows + len(block.lengths), block.values.dtype
            progress(int(done[rows]), int(done[-1]))
        return Cooccurrences(
            vocabulary,
            np.cumsum(np.concatenate(lengths)),
            mapped(columns, np.uint32),
            mapped(values, number),
        )


@contextmanager
def temporary_file(folder: Folder) -> Iterator[IO[bytes]]:
    """A file without a name: it goes when nobody has it open or mapped."""
    try:
        with TemporaryFile(dir=folder) as file:
            yield file
    except OSError as error:
        raise InvalidFileError(
            f"{folder or gettempdir()} cannot take the counts: {error.strerror or error};"
            " name another folder for temporary files"
        ) from error


def mapped(file: IO[bytes], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """All that was written, memory-mapped."""
    file.flush()
    if file.tell() == 0:
        return np.empty(0, dtype)
    return np.memmap(file, dtype, mode="r").view(np.ndarray)
