"""The immutable state of an index: segments, which of their rows are alive, and the encoder.

Adding and deleting return another state that shares the segments. Rows are numbered across all
segments, dead rows included.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from malmoi.arrays import BoolArray, Float32Array, Int64Array
from malmoi.encode.pipeline.prompts import Prompts
from malmoi.errors import InvalidArgumentError
from malmoi.search.analyser import Analyser
from malmoi.search.storage.clusters import Clusters
from malmoi.search.storage.entry import Entry
from malmoi.search.storage.fusion import DEFAULT_WEIGHT, Fusion, cosine_spread, spread_sample
from malmoi.search.storage.passage_offsets import EmbeddedPassages
from malmoi.search.storage.postings import Postings
from malmoi.search.storage.segment import Segment, join_segments
from malmoi.vectors import Vectors

COMPACT_ABOVE = 0.25  # dead rows, as a share of all rows


@dataclass(frozen=True, eq=False)
class EncoderFingerprint:
    """A text and its vector, which identify the encoder of an index."""

    text: str
    vector: Float32Array  # [dim]


@dataclass(frozen=True)
class Translation:
    """How the vectors of another model became those of the index: by a linear map."""

    before: str  # the model of the vectors that were translated
    texts: int  # that the map was fitted on
    recall: float  # share of the ten nearest texts that the map keeps, measured on those texts


@dataclass(frozen=True, eq=False)
class State:
    """`alive[s]` is the mask of living rows of `segments[s]`; an id is alive at most once.

    `model` is the name of the encoder, empty for an index of vectors; `prompts` are put before
    texts and queries (None: the encoder's own); `passages` is whether long texts are split.
    `clusters`, where there are any, know the vectors of the first segment; `fusion` is the
    weight of words in a hybrid search, once it has been learnt. `translation` says where the
    vectors come from if the encoder did not make them all.
    """

    analyser: Analyser
    dim: int
    model: str = ""
    probe: EncoderFingerprint | None = None
    segments: tuple[Segment, ...] = ()
    alive: tuple[BoolArray, ...] = ()
    clusters: Clusters | None = None
    prompts: Prompts | None = None
    passages: bool = False
    fusion: Fusion | None = None
    translation: Translation | None = None

    @cached_property
    def starts(self) -> Int64Array:
        """The number of each segment's first row, and of the row after the last."""
        return np.cumsum([0, *map(len, self.segments)])

    @cached_property
    def _starts(self) -> list[int]:
        return [int(start) for start in self.starts]

    @cached_property
    def postings(self) -> list[Postings]:
        """The postings of each segment."""
        return [segment.postings for segment in self.segments]

    @cached_property
    def living(self) -> BoolArray:
        """The mask of living rows."""
        return np.concatenate([np.empty(0, bool), *self.alive])

    @cached_property
    def counts(self) -> list[int]:
        """The number of living rows of each segment."""
        return [int(mask.sum()) for mask in self.alive]

    @property
    def count(self) -> int:
        """The number of living rows."""
        return sum(self.counts)

    @cached_property
    def vector_count(self) -> int:
        """The number of vectors of living rows; a text with passages has several."""
        parts = zip(self.segments, self.alive, strict=True)
        return sum(
            int(np.diff(segment.passages.bounds)[alive].sum())
            if segment.passages
            else int(alive.sum())
            for segment, alive in parts
        )

    @property
    def weight(self) -> float:
        """The weight of words in a hybrid search: learnt, or else the default."""
        return self.fusion.weight if self.fusion else DEFAULT_WEIGHT

    @cached_property
    def spread(self) -> float:
        """The standard deviation of cosines between vectors, on a sample."""
        chosen, start = spread_sample(self.vector_count), 0
        parts = [np.empty((0, self.dim), np.float32)]
        for segment, alive in zip(self.segments, self.alive, strict=True):
            passages = segment.passages
            living = np.flatnonzero(alive[passages.owners] if passages else alive)
            stop = start + len(living)
            rows = living[chosen[(chosen >= start) & (chosen < stop)] - start]
            parts.append(segment.vectors.matrix[rows])
            start = stop
        return cosine_spread(np.concatenate(parts))

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The names of all fields."""
        return tuple({name: None for segment in self.segments for name in segment.columns})

    def at(self, row: int) -> tuple[Segment, int]:
        """The segment of a row, and its number there."""
        index = bisect_right(self._starts, row) - 1
        return self.segments[index], row - self._starts[index]

    def entry(self, row: int) -> Entry:
        """The entry of a row."""
        segment, at = self.at(row)
        return segment.entry(at)

    def embedded(self, row: int) -> EmbeddedPassages:
        """The vectors of a row."""
        segment, at = self.at(row)
        return segment.embedded(at)

    def find(self, ids: Sequence[str]) -> Int64Array:
        """The living row of each id, or -1."""
        rows = np.full(len(ids), -1, dtype=np.int64)
        for start, segment, alive in zip(self.starts, self.segments, self.alive, strict=False):
            segment_rows = segment.ids.find_all(ids)
            is_alive = segment_rows >= 0
            is_alive[is_alive] = alive[segment_rows[is_alive]]
            rows[is_alive] = start + segment_rows[is_alive]
        return rows

    @cached_property
    def vectors(self) -> Vectors:
        """The vectors of all living rows by id; the mean of a text's passages."""
        if len(self.segments) == 1 and self.alive[0].all():
            return self.segments[0].means
        if self.count == 0:
            return Vectors([], np.empty((0, self.dim), np.float32))
        return _join(self, slice(None)).means


def with_segment(state: State, new: Segment) -> State:
    """The state with another segment, whose entries replace those of the same ids."""
    if new.vectors.dim != state.dim:
        raise InvalidArgumentError(
            f"vectors of {new.vectors.dim} dimensions in an index of {state.dim}"
        )
    state = without(state, state.find(list(new.ids)))
    return replace(
        state,
        segments=(*state.segments, new),
        alive=(*state.alive, np.ones(len(new), dtype=bool)),
        fusion=with_changes(state.fusion, len(new)),
    )


def without(state: State, rows: Int64Array) -> State:
    """The state without some rows; -1 is ignored."""
    gone = np.unique(rows[rows >= 0])
    if len(gone) == 0:
        return state
    living = state.living.copy()
    living[gone] = False
    return replace(
        state,
        alive=tuple(np.split(living, state.starts[1:-1])),
        fusion=with_changes(state.fusion, len(gone)),
    )


def merge_segments(state: State) -> State:
    """The state in fewer segments.

    Segments at the end are joined so that each is at least twice as long as the next, which
    keeps them few and writes each row a few times at most. If many rows are dead, the living
    rows are rewritten and the clusters dropped.
    """
    dead = len(state.living) - state.count
    if dead > COMPACT_ABOVE * len(state.living):
        return compact(state)
    first = 1 if state.clusters else 0
    sizes, last = [len(segment) for segment in state.segments], len(state.segments)
    while last - 1 > first and sizes[last - 2] < 2 * sum(sizes[last - 1 :]):
        last -= 1
    if last - 1 >= len(state.segments) - 1:
        return state
    joined = _join(state, slice(last - 1, None))
    return replace(
        state,
        segments=(*state.segments[: last - 1], joined),
        alive=(*state.alive[: last - 1], np.ones(len(joined), dtype=bool)),
    )


def compact(state: State) -> State:
    """The state in one segment without dead rows, or in none; without clusters."""
    if state.count == 0:
        return replace(state, segments=(), alive=(), clusters=None)
    if len(state.segments) == 1 and state.count == len(state.living):
        return state
    joined = _join(state, slice(None))
    everything = (np.ones(len(joined), dtype=bool),)
    return replace(state, segments=(joined,), alive=everything, clusters=None)


def _join(state: State, which: slice) -> Segment:
    parts = zip(state.segments[which], state.alive[which], strict=True)
    return join_segments([(segment, np.flatnonzero(alive)) for segment, alive in parts])


def with_changes(fusion: Fusion | None, texts: int) -> Fusion | None:
    """The fusion after so many texts were written or deleted."""
    return fusion and replace(fusion, changes=fusion.changes + texts)
