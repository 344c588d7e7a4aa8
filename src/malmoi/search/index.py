"""An index over texts: search it by meaning, by words, or by both; add, replace, delete."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from threading import Lock

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.loading import load_encoder
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError, UnknownWordError, warn
from malmoi.keys import is_encodable
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.search.adding import make_addition
from malmoi.search.entries import make_entries
from malmoi.search.fingerprint import check_encoder, reader_of_queries
from malmoi.search.fusion import check_weight
from malmoi.search.learn_weight import with_weight
from malmoi.search.querying.filters import Where, conditions
from malmoi.search.querying.hits import Hits, make_hits
from malmoi.search.querying.hybrid import by_both
from malmoi.search.querying.ranking import NOTHING, allowed_rows, by_vector, by_words
from malmoi.search.storage.columns import Fields
from malmoi.search.storage.folder import Folder
from malmoi.search.storage.segment import Entry
from malmoi.search.storage.state import State, tidied, without
from malmoi.unicode import normalize
from malmoi.vectors import Vectors, l2_normalize


class Index:
    """Texts that can be searched, in memory or in a folder.

    It holds one frozen state and replaces it as a whole, so that other threads may search while
    one writes. `build_index` and `open_index` make one.
    """

    def __init__(
        self, state: State, *, encoder: Encoder | None = None, folder: Folder | None = None
    ) -> None:
        self.state, self.folder = state, folder
        self._encoder, self._writing = encoder, Lock()
        if encoder is not None:
            check_encoder(encoder, state)

    @property
    def encoder(self) -> Encoder:
        """What makes vectors of texts; loaded when it is first needed."""
        if self._encoder is None:
            if not self.state.model:
                raise InvalidArgumentError(
                    "this index was made of vectors, without an encoder for texts"
                )
            encoder = load_encoder(self.state.model)
            check_encoder(encoder, self.state)
            self._encoder = encoder
        return self._encoder

    @property
    def vectors(self) -> Vectors:
        """The vectors of all texts, with their ids as keys."""
        return self.state.vectors

    def search(
        self,
        query: str | Float32Array,
        k: int = 10,
        *,
        where: Where | None = None,
        hybrid: bool = False,
        lexical: bool = False,
        exact: bool = False,
        weight: float | None = None,
        vector: Float32Array | None = None,
    ) -> Hits:
        """The k best texts for a query, best first.

        By meaning; `lexical` goes by its words instead (BM25), `hybrid` by both. `where` lets
        only texts through whose fields fit: `{"lang": "ko"}`, `{"lang": ["ko", "en"]}` or
        `"year>=2020"`. `exact` looks at every vector where clusters would do with fewer. `weight`
        is that of words in a hybrid search, from 0 to 1, in place of the one that the index has
        learnt. `vector` is that of the query, where it is known already.
        """
        state = self.state
        if k < 1:
            raise InvalidArgumentError(f"{k} texts were asked for: ask for at least one")
        if isinstance(query, str) and not query.strip():
            raise InvalidArgumentError("the query is empty: say what to look for")
        if weight is not None:
            if not hybrid:
                raise InvalidArgumentError("a weight is for a hybrid search: set hybrid too")
            check_weight(weight)
        allowed = allowed_rows(state, conditions(where))
        if not state.segments:
            return Hits()
        direction = None
        if hybrid or not lexical:
            direction = self._direction(state, query if vector is None else vector)
        words = _words(state, query) if hybrid or lexical else []
        if hybrid:
            weight = state.weight if weight is None else weight
            found = by_both(state, direction, words, k, allowed, weight=weight, exact=exact)
        elif lexical:
            found = by_words(state, words, k, allowed)
        elif direction is not None:
            found = by_vector(state, direction, k, allowed, exact=exact)
        else:
            found = NOTHING
        return Hits(make_hits(state, found, direction), weight)

    def add(
        self,
        texts: Iterable[str],
        *,
        ids: Iterable[str],
        fields: Iterable[Fields] | None = None,
        progress: Progress = no_progress,
    ) -> None:
        """Add texts; one with an id that is there already replaces what was there."""
        entries = make_entries(texts, ids, fields)
        if not entries:
            return
        added = make_addition(self.state, self.encoder, entries, progress)
        self.change(lambda state: with_weight(added.to(state), self.encoder))

    def delete(self, ids: Iterable[str]) -> int:
        """Delete texts by their ids; how many of them were there."""
        gone, before = list(ids), len(self)
        self.change(lambda state: without(state, state.find(gone)))
        return before - len(self)

    def change(self, make: Callable[[State], State]) -> None:
        """Replace the state by what `make` makes of the last one, on disk too."""
        with self._writing, self.folder.writing() if self.folder else nullcontext():
            state = tidied(make(self.folder.read() if self.folder else self.state))
            self.state = self.folder.commit(state) if self.folder else state

    def save(self, path: str | Path) -> None:
        """Write a copy into a new folder."""
        folder = Folder(Path(path))
        if folder.exists:
            raise InvalidArgumentError(f"there is an index in {path} already: name a new folder")
        with folder.writing():
            segments = tuple(replace(segment, name="") for segment in self.state.segments)
            clusters = self.state.clusters and self.state.clusters.without_file()
            folder.commit(replace(self.state, segments=segments, clusters=clusters))

    def __getitem__(self, id: str) -> Entry:
        row = int(self.state.find([id])[0])
        if row < 0:
            raise UnknownWordError(id, where="the index")
        return self.state.entry(row)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and is_encodable(id) and bool(self.state.find([id])[0] >= 0)

    def __len__(self) -> int:
        return self.state.count

    def __repr__(self) -> str:
        model = self.state.model or "no encoder"
        return f"Index({len(self):,} texts × {self.state.dim}, {model})"

    def _direction(self, state: State, query: str | Float32Array) -> Float32Array | None:
        """Where to look, of length one; None where there is no telling."""
        vector = self._vector(state, query)
        if not np.isfinite(vector).all():
            raise InvalidArgumentError("the vector of the query holds nan or inf")
        if not vector.any():
            warn("the query has no vector: none of its words is known to the model")
            return None
        return l2_normalize(vector)

    def _vector(self, state: State, query: str | Float32Array) -> Float32Array:
        if not isinstance(query, str):
            given: Float32Array = np.asarray(query, dtype=np.float32)
            if given.shape != (state.dim,):
                raise InvalidArgumentError(f"a query is text or a vector of {state.dim} numbers")
            return given
        text = normalize("NFC", query)
        if self._encoder or state.model:
            encoded: Float32Array = reader_of_queries(self.encoder, state).encode([text])[0]
            return encoded
        row = int(state.find([text])[0])
        if row < 0:
            raise UnknownWordError(query, where="the index")
        found: Float32Array = state.embedded(row).matrix[0]
        return found


def _words(state: State, query: str | Float32Array) -> list[str]:
    """The words of a query; that no text has any of them is said."""
    if not isinstance(query, str):
        raise InvalidArgumentError("a vector has no words: give the query as text")
    words = state.analyser(query)
    if not any(len(part.postings.of(word)[0]) for part in state.segments for word in words):
        warn(f"no text has any word of '{query}'")
    return words
