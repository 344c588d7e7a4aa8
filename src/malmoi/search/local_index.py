"""LocalIndex: an index in memory or in a folder."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from malmoi.arguments import expect_path
from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import Reporter
from malmoi.search.fingerprint import expect_same_model, is_same_model
from malmoi.search.index import Index
from malmoi.search.querying.hits import Hit, make_hits
from malmoi.search.querying.hybrid import by_both
from malmoi.search.querying.query import IndexQuery
from malmoi.search.querying.ranking import EMPTY_RANKING, allowed_rows, by_vector, by_words
from malmoi.search.storage.entry import Entry
from malmoi.search.storage.folder import Folder
from malmoi.search.storage.state import State, merge_segments, without
from malmoi.search.writer import IndexWriter
from malmoi.unicode import normalize
from malmoi.vectors import Vectors


class LocalIndex(Index):
    """Texts in memory or in a folder.

    The index holds one frozen state and replaces it as a whole, so that threads can search while
    one writes.
    """

    def __init__(
        self, state: State, *, encoder: Encoder | None = None, folder: Folder | None = None
    ) -> None:
        self.state, self.folder = state, folder
        self._writing = Lock()
        super().__init__(encoder)

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.path.name if self.folder else "index"

    @property
    def vectors(self) -> Vectors:
        """The vectors of all texts, with their ids as keys."""
        return self.state.vectors

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of all fields."""
        return self.state.fields

    def entries(self) -> Iterator[Entry]:
        """All texts with their ids and fields, in order."""
        state = self.state
        return (state.entry(row) for row in np.flatnonzero(state.living).tolist())

    def change(self, make: Callable[[State], State]) -> None:
        """Replace the state by `make(state)`, on disk too."""
        with self._writing, self.folder.writing() if self.folder else nullcontext():
            state = merge_segments(make(self.folder.read() if self.folder else self.state))
            if not is_same_model(state, self.state):
                self._encoder = None  # `reindex` has changed the model: load the new one
            self.state = self.folder.commit(state) if self.folder else state

    def save(self, path: str | Path) -> None:
        """Write a copy of the index to a new folder."""
        folder = Folder(expect_path(path))
        if folder.exists:
            raise InvalidArgumentError(f"{path} holds an index already: name a new folder")
        with folder.writing():
            segments = tuple(replace(segment, name="") for segment in self.state.segments)
            clusters = self.state.clusters and self.state.clusters.without_file()
            folder.commit(replace(self.state, segments=segments, clusters=clusters))

    def describe(self) -> dict[str, Any]:
        """Describe the index; the checksums of an index in a folder are verified."""
        state = self.state
        search = "approximate" if state.clusters else "exact"
        facts: dict[str, Any] = {
            "format": "malmoi index",
            **self._facts(state.vector_count, "BM25", search),
            "segments": len(state.segments),
            "deleted": len(state.living) - state.count,
        }
        if self.folder:
            files = [path for path in self.folder.path.iterdir() if path.is_file()]
            facts["checksums"] = self.folder.verify()
            facts["bytes"] = sum(path.stat().st_size for path in files)
        return facts | (state.clusters.facts if state.clusters else {})

    def __len__(self) -> int:
        return self.state.count

    def _hits(self, state: State, query: IndexQuery) -> list[Hit]:
        allowed = allowed_rows(state, query.conditions)
        if query.weight is not None:
            ranking = by_both(state, query.direction, query.words or (), query.k, allowed,
                              weight=query.weight, exact=query.exact)  # fmt: skip
        elif query.words is not None:
            ranking = by_words(state, query.words, query.k, allowed)
        elif query.direction is not None:
            ranking = by_vector(state, query.direction, query.k, allowed, exact=query.exact)
        else:
            ranking = EMPTY_RANKING
        return make_hits(state, ranking, query.direction)

    def _add(self, entries: Sequence[Entry], reporter: Reporter) -> None:
        writer = IndexWriter(self.state, self.encoder)
        writer.embed(entries, reporter=reporter)
        with self._writing, self.folder.writing() if self.folder else nullcontext():
            probe = writer.state.probe  # others may have written since: start from their state
            state = self.folder.read() if self.folder else self.state
            expect_same_model(state, self.state)
            writer.state = replace(state, probe=state.probe or probe)
            writer.folder = self.folder
            self.state = writer.finish()

    def _delete(self, ids: Sequence[str]) -> int:
        before = len(self)
        self.change(lambda state: without(state, _find(state, ids)))
        return before - len(self)

    def _entry(self, id: str) -> Entry | None:
        row = int(_find(self.state, [id])[0])
        return None if row < 0 else self.state.entry(row)

    def _first_vector(self, id: str) -> Float32Array | None:
        row = int(self.state.find([id])[0])
        if row < 0:
            return None
        own: Float32Array = self.state.embedded(row).matrix[0]
        return own

    def _knows_any(self, words: Sequence[str]) -> bool:
        return any(len(part.of(word)[0]) for part in self.state.postings for word in words)


def _find(state: State, ids: Sequence[str]) -> Int64Array:
    """The row of each id, as it is written or in NFC; -1 if there is none."""
    rows = state.find(ids)
    missing = np.flatnonzero(rows < 0)
    rows[missing] = state.find([normalize("NFC", ids[i]) for i in missing.tolist()])
    return rows
