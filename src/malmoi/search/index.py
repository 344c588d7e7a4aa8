"""An index over texts: search by meaning, by words, or by both; add, replace and delete texts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from malmoi.arguments import described, expect, expect_count, expect_path
from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.loading import load_encoder
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError, UnknownWordError
from malmoi.keys import is_encodable
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.rerank.reranker import Reranker
from malmoi.search.entries import check_ids, make_entries
from malmoi.search.fingerprint import check_encoder, query_encoder
from malmoi.search.fusion import Fusion, check_weight
from malmoi.search.querying.filters import Where, conditions
from malmoi.search.querying.hits import Hits, make_hits, rerank_hits
from malmoi.search.querying.hybrid import by_both
from malmoi.search.querying.ranking import EMPTY_RANKING, allowed_rows, by_vector, by_words
from malmoi.search.storage.columns import Fields
from malmoi.search.storage.entry import Entry, EntryId, id_as_text
from malmoi.search.storage.folder import Folder
from malmoi.search.storage.state import State, Translation, merge_segments, without
from malmoi.search.writer import IndexWriter
from malmoi.table import HEAD, Table, Tabular
from malmoi.text_inputs import TextLike
from malmoi.unicode import normalize
from malmoi.vectors import Vectors, l2_normalize

RERANK_TOP = 50  # hits that a reranker scores


class Index(Tabular):
    """Texts that can be searched, in memory or in a folder.

    An index holds one frozen state and replaces it as a whole, so that threads can search while
    one writes. `build_index` and `open_index` create indexes.
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
        """The encoder of texts and queries, loaded when first needed."""
        if self._encoder is None:
            if not self.state.model:
                raise InvalidArgumentError(
                    "this index was built from vectors and has no encoder for texts"
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
        rerank: Reranker | None = None,
        rerank_top: int = RERANK_TOP,
        reporter: Reporter = DEFAULT_REPORTER,
    ) -> Hits:
        """Search by meaning, by words, or by both.

        Args:
            query: A text, or a vector.
            k: How many texts to return.
            where: Conditions on fields: `{"lang": "ko"}`, `{"lang": ["ko", "en"]}` or
                `"year>=2020"`.
            hybrid: Search by meaning and by words.
            lexical: Search by words alone (BM25).
            exact: Compare every vector, even if the index has clusters.
            weight: The weight of words in a hybrid search, from 0 to 1, instead of the one that
                the index has learnt.
            vector: The vector of the query, if it is known already.
            rerank: A reranker that orders the best texts again; see `load_reranker`. It reads the
                best passage of a long text.
            rerank_top: How many of the best texts it orders, at least k.
            reporter: Receives warnings.

        Returns:
            The k best texts, best first.

        Raises:
            InvalidArgumentError: The query is empty or not finite, k, where or weight is not
                valid, or a vector is to be reranked.
            UnknownWordError: The index was built from vectors and does not hold the query.
        """
        if rerank is not None:
            _check_rerank(query, rerank, rerank_top)
            expect_count(k)
            hits = self.search(query, max(k, rerank_top), where=where, hybrid=hybrid,
                               lexical=lexical, exact=exact, weight=weight, vector=vector,
                               reporter=reporter)  # fmt: skip
            return rerank_hits(rerank, str(query), hits, k, reporter)
        state = self.state
        expect_count(k)
        if isinstance(query, str) and not query.strip():
            raise InvalidArgumentError("the query is empty")
        if weight is not None:
            if not hybrid:
                raise InvalidArgumentError("weight is for a hybrid search: set hybrid too")
            check_weight(weight)
        allowed = allowed_rows(state, conditions(where))
        if not state.segments:
            return Hits()
        direction = None
        if hybrid or not lexical:
            direction = self._direction(state, query if vector is None else vector, reporter)
        words = _words(state, query, reporter) if hybrid or lexical else []
        if hybrid:
            weight = state.weight if weight is None else weight
            ranking = by_both(state, direction, words, k, allowed, weight=weight, exact=exact)
        elif lexical:
            ranking = by_words(state, words, k, allowed)
        elif direction is not None:
            ranking = by_vector(state, direction, k, allowed, exact=exact)
        else:
            ranking = EMPTY_RANKING
        return Hits(make_hits(state, ranking, direction), weight)

    def add(
        self,
        texts: Iterable[TextLike],
        *,
        ids: Iterable[EntryId],
        fields: Iterable[Fields] | None = None,
        reporter: Reporter = DEFAULT_REPORTER,
    ) -> None:
        """Add texts; a text whose id exists already replaces the text of that id.

        Args:
            texts: Strings or token lists, in a list, a generator, a Series or an array.
            ids: A unique id per text: strings, or integers, which are stored as strings.
            fields: A mapping of fields per text, for filters.
            reporter: Receives the progress and warnings.

        Raises:
            InvalidArgumentError: An id occurs twice, or the lists differ in length.
            InvalidFileError: The folder of the index cannot be written.
        """
        entries = make_entries(texts, ids, fields)
        if not entries:
            return
        check_ids(entries)
        writer = IndexWriter(self.state, self.encoder)
        writer.embed(entries, reporter=reporter)
        with self._writing, self.folder.writing() if self.folder else nullcontext():
            probe = writer.state.probe  # others may have written since: start from their state
            state = self.folder.read() if self.folder else self.state
            if not _is_same_model(state, self.state):
                raise InvalidArgumentError(
                    f"the index has changed its model to '{state.model}' since it was opened:"
                    " open it again"
                )
            writer.state = replace(state, probe=state.probe or probe)
            writer.folder = self.folder
            self.state = writer.finish()

    def delete(self, ids: EntryId | Iterable[EntryId]) -> int:
        """Delete texts by id.

        Args:
            ids: Ids of texts, or a single one; 3 is the same id as "3".

        Returns:
            How many of them existed.

        Raises:
            InvalidArgumentError: An id is neither a string nor an integer.
            InvalidFileError: The folder of the index cannot be written.
        """
        several = ids if isinstance(ids, Iterable) and not isinstance(ids, str) else [ids]
        deleted, before = [id_as_text(id, "to delete") for id in several], len(self)
        self.change(lambda state: without(state, _find(state, deleted)))
        return before - len(self)

    def change(self, make: Callable[[State], State]) -> None:
        """Replace the state by `make(state)`, on disk too."""
        with self._writing, self.folder.writing() if self.folder else nullcontext():
            state = merge_segments(make(self.folder.read() if self.folder else self.state))
            if not _is_same_model(state, self.state):
                self._encoder = None  # `reindex` has changed the model: load the new one
            self.state = self.folder.commit(state) if self.folder else state

    def save(self, path: str | Path) -> None:
        """Write a copy of the index to a new folder.

        Args:
            path: The folder, which must not hold an index.

        Raises:
            InvalidArgumentError: The folder holds an index already.
            InvalidFileError: The folder cannot be written.
        """
        folder = Folder(expect_path(path))
        if folder.exists:
            raise InvalidArgumentError(f"{path} holds an index already: name a new folder")
        with folder.writing():
            segments = tuple(replace(segment, name="") for segment in self.state.segments)
            clusters = self.state.clusters and self.state.clusters.without_file()
            folder.commit(replace(self.state, segments=segments, clusters=clusters))

    def describe(self) -> dict[str, Any]:
        """Describe the index; the checksums of an index in a folder are verified.

        Returns:
            Facts by name: the number of texts, the model, the fields and more.

        Raises:
            InvalidFileError: A file of the index is damaged.
        """
        state = self.state
        units = {"morphemes": "Korean as morphemes", "bigrams": "Korean as syllable bigrams"}
        facts: dict[str, Any] = {
            "format": "malmoi index",
            "texts": state.count,
            "dim": state.dim,
            "model": state.model or "none: built from vectors",
            "vectors": _vector_source(state.translation),
            "passages": state.vector_count if state.passages else "none: long texts are truncated",
            "fields": list(state.fields),
            "words": f"BM25, {units[state.analyser.hangul]}",
            "weight": state.weight,
            "learnt from": _weight_source(state.fusion),
            "search": "approximate" if state.clusters else "exact",
            "segments": len(state.segments),
            "deleted": len(state.living) - state.count,
        }
        if self.folder:
            files = [path for path in self.folder.path.iterdir() if path.is_file()]
            facts["checksums"] = self.folder.verify()
            facts["bytes"] = sum(path.stat().st_size for path in files)
        prompts = asdict(state.prompts) if state.prompts else {}
        facts |= {f"{name} prompt": text for name, text in prompts.items() if text}
        return facts | (state.clusters.facts if state.clusters else {})

    def __getitem__(self, id: EntryId) -> Entry:
        name = id_as_text(id, "to look up")
        row = int(_find(self.state, [name])[0])
        if row < 0:
            raise UnknownWordError(name, where="the index")
        return self.state.entry(row)

    def __contains__(self, id: object) -> bool:
        try:
            name = id_as_text(id, "to look up")
        except InvalidArgumentError:
            return False
        return is_encodable(name) and bool(_find(self.state, [name])[0] >= 0)

    def __iter__(self) -> Iterator[str]:
        """The ids of all texts."""
        state = self.state
        return (state.entry(row).id for row in np.flatnonzero(state.living).tolist())

    def __len__(self) -> int:
        return self.state.count

    def __repr__(self) -> str:
        model = self.state.model or "no encoder"
        return f"Index({len(self):,} texts × {self.state.dim}, {model})"

    def _table(self) -> Table:
        state = self.state
        entries = [state.entry(row) for row in np.flatnonzero(state.living)[:HEAD].tolist()]
        title = f"Index: {len(self):,} texts × {state.dim}, {state.model or 'no encoder'}"
        rows = [(entry.id, entry.text) for entry in entries]
        return Table(title, ["id", "text"], rows, len(self))

    def _direction(
        self, state: State, query: str | Float32Array, reporter: Reporter
    ) -> Float32Array | None:
        """The unit vector of the query; None if its vector is zero."""
        vector = self._vector(state, query)
        if not np.isfinite(vector).all():
            raise InvalidArgumentError("the vector of the query holds nan or inf")
        if not vector.any():
            reporter.warn("the query has no vector: the model knows none of its words")
            return None
        return l2_normalize(vector)

    def _vector(self, state: State, query: str | Float32Array) -> Float32Array:
        if not isinstance(query, str):
            vector = _as_vector(query)
            if vector.shape != (state.dim,):
                raise InvalidArgumentError(
                    f"a query is a text or a vector of {state.dim} dimensions; got shape"
                    f" {vector.shape}"
                )
            return vector
        text = normalize("NFC", query)
        if self._encoder or state.model:
            encoded: Float32Array = query_encoder(self.encoder, state).encode([text])[0]
            return encoded
        row = int(state.find([text])[0])
        if row < 0:
            raise UnknownWordError(query, where="the index")
        own: Float32Array = state.embedded(row).matrix[0]
        return own


def _check_rerank(query: object, rerank: object, rerank_top: int) -> None:
    """Raise InvalidArgumentError if a search cannot be reranked."""
    hint = "load one with load_reranker(folder)"
    expect(rerank, Reranker, "rerank", "a Reranker", hint=hint)
    expect_count(rerank_top, "rerank_top")
    if not isinstance(query, str):
        raise InvalidArgumentError("a reranker reads texts: pass the query as a text, not a vector")


def _as_vector(query: object) -> Float32Array:
    """A query that is not a text, as numbers."""
    try:
        vector: Float32Array = np.asarray(query, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(
            f"a query must be one text or one vector, not {described(query)}; search for several"
            " texts one by one"
        ) from error
    return vector


def _find(state: State, ids: Sequence[str]) -> Int64Array:
    """The row of each id, as it is written or in NFC; -1 if there is none."""
    rows = state.find(ids)
    missing = np.flatnonzero(rows < 0)
    rows[missing] = state.find([normalize("NFC", ids[i]) for i in missing.tolist()])
    return rows


def _is_same_model(one: State, two: State) -> bool:
    """Whether the vectors of two states of an index are of the same encoder."""
    if one.probe is None or two.probe is None:  # one of them is empty
        return one.dim == two.dim and one.model == two.model
    return one.dim == two.dim and bool(
        one.probe.text == two.probe.text and np.array_equal(one.probe.vector, two.probe.vector)
    )


def _vector_source(translation: Translation | None) -> str:
    """Where the vectors of texts come from."""
    if translation is None:
        return "of the model"
    return (
        f"translated from '{translation.before}', recall@10 {translation.recall:.2f} on"
        f" {translation.texts:,} texts"
    )


def _weight_source(fusion: Fusion | None) -> str:
    """Where the weight of words in a hybrid search comes from."""
    if fusion is None:
        return "nothing: the default weight"
    return f"{fusion.queries:,} pseudo-queries over {fusion.texts:,} texts"


def _words(state: State, query: str | Float32Array, reporter: Reporter) -> list[str]:
    """The words of a query; warns if no text has any of them."""
    if not isinstance(query, str):
        raise InvalidArgumentError("a lexical search needs a text, not a vector")
    words = state.analyser(query)
    if not any(len(part.postings.of(word)[0]) for part in state.segments for word in words):
        reporter.warn(f"no text contains any word of '{query}'")
    return words
