"""Index: texts that can be searched by meaning, by words, or by both, wherever they are stored."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from malmoi.arguments import expect_count
from malmoi.arrays import Float32Array
from malmoi.encode.loading import load_encoder
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError, InvalidFileError, UnknownWordError
from malmoi.keys import is_encodable
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.rerank.reranker import Reranker
from malmoi.search.entries import check_ids, make_entries
from malmoi.search.fingerprint import check_encoder, query_encoder
from malmoi.search.querying.filters import Condition, Where, check_fields, conditions
from malmoi.search.querying.hits import Hit, Hits, rerank_hits
from malmoi.search.querying.query import IndexQuery, as_vector, check_query, check_rerank
from malmoi.search.storage.columns import Fields
from malmoi.search.storage.entry import Entry, EntryId, id_as_text
from malmoi.search.storage.fusion import Fusion
from malmoi.search.storage.state import State, Translation
from malmoi.table import HEAD, Table, Tabular
from malmoi.text_inputs import TextLike
from malmoi.unicode import normalize
from malmoi.vectors import Vectors, l2_normalize

RERANK_TOP = 50  # hits that a reranker scores


class StaleStateError(InvalidFileError):
    """The index has changed its model, or its server was restarted: read its state again."""


class SearchKind(NamedTuple):
    """Which side a search uses, and whether it compares every vector."""

    hybrid: bool
    lexical: bool
    exact: bool


class Index(Tabular, ABC):
    """Texts that can be searched, in memory, in a folder or in a database.

    `build_index` and `open_index` create indexes.
    """

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._encoder = encoder
        if encoder is not None:
            check_encoder(encoder, self.state)

    state: State
    """The model, prompts and options; in memory or in a folder also the texts."""

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
    @abstractmethod
    def name(self) -> str:
        """The name of its folder or table."""

    @property
    @abstractmethod
    def vectors(self) -> Vectors:
        """The vectors of all texts, with their ids as keys."""

    @property
    @abstractmethod
    def fields(self) -> tuple[str, ...]:
        """The names of all fields."""

    @abstractmethod
    def entries(self) -> Iterator[Entry]:
        """All texts, in order.

        Returns:
            Entries with id, text and fields.
        """

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
            exact: Compare every vector, even if the index has clusters or a vector index.
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
            check_rerank(query, rerank, rerank_top)
            expect_count(k)
            hits = self.search(query, max(k, rerank_top), where=where, hybrid=hybrid,
                               lexical=lexical, exact=exact, weight=weight, vector=vector,
                               reporter=reporter)  # fmt: skip
            return rerank_hits(rerank, str(query), hits, k, reporter)
        check_query(query, k, weight, hybrid=hybrid)
        kind = SearchKind(hybrid, lexical, exact)
        try:
            return self._search(query, k, conditions(where), kind, weight, vector, reporter)
        except StaleStateError:  # `reindex` has just changed the model
            return self._search(query, k, conditions(where), kind, weight, vector, reporter)

    def _search(
        self,
        query: str | Float32Array,
        k: int,
        filters: tuple[Condition, ...],
        kind: "SearchKind",
        weight: float | None,
        vector: Float32Array | None,
        reporter: Reporter,
    ) -> Hits:
        """Search the current state."""
        (hybrid, lexical, exact), state = kind, self._current()
        check_fields(filters, state.fields)
        if state.count == 0:
            return Hits()
        direction = None
        if hybrid or not lexical:
            direction = self._direction(state, query if vector is None else vector, reporter)
        words = self._words(state, query, reporter) if hybrid or lexical else None
        if hybrid and weight is None:
            weight = state.weight
        wanted = IndexQuery(k, filters, direction, words, weight, exact)
        return Hits(self._hits(state, wanted), weight)

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
            InvalidFileError: The folder or database of the index cannot be written.
        """
        entries = make_entries(texts, ids, fields)
        check_ids(entries)
        if entries:
            self._add(entries, reporter)

    def delete(self, ids: EntryId | Iterable[EntryId]) -> int:
        """Delete texts by id.

        Args:
            ids: Ids of texts, or a single one; 3 is the same id as "3".

        Returns:
            How many of them existed.

        Raises:
            InvalidArgumentError: An id is neither a string nor an integer.
            InvalidFileError: The folder or database of the index cannot be written.
        """
        several = ids if isinstance(ids, Iterable) and not isinstance(ids, str) else [ids]
        return self._delete([id_as_text(id, "to delete") for id in several])

    @abstractmethod
    def save(self, path: str | Path) -> None:
        """Write a copy of the index to a new folder.

        Args:
            path: The folder, which must not hold an index.

        Raises:
            InvalidArgumentError: The folder holds an index already.
            InvalidFileError: The folder cannot be written.
        """

    def close(self) -> None:
        """Close the connections of an index in a database; it opens others if it is used again."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Describe the index; the checksums of an index in a folder are verified.

        Returns:
            Facts by name: the number of texts, the model, the fields and more.

        Raises:
            InvalidFileError: A file of the index is damaged.
        """

    def __getitem__(self, id: EntryId) -> Entry:
        name = id_as_text(id, "to look up")
        entry = self._entry(name)
        if entry is None:
            raise UnknownWordError(name, where="the index")
        return entry

    def __contains__(self, id: object) -> bool:
        try:
            name = id_as_text(id, "to look up")
        except InvalidArgumentError:
            return False
        return is_encodable(name) and self._entry(name) is not None

    def __iter__(self) -> Iterator[str]:
        """The ids of all texts."""
        return (entry.id for entry in self.entries())

    @abstractmethod
    def __len__(self) -> int: ...

    def __repr__(self) -> str:
        model = self.state.model or "no encoder"
        return f"Index({len(self):,} texts × {self.state.dim}, {model})"

    @abstractmethod
    def _hits(self, state: State, query: IndexQuery) -> list[Hit]:
        """The best texts for a query."""

    @abstractmethod
    def _add(self, entries: Sequence[Entry], reporter: Reporter) -> None:
        """Embed and store entries with different ids."""

    @abstractmethod
    def _delete(self, ids: Sequence[str]) -> int:
        """Delete texts, whose ids are as they are written or in NFC; return how many existed."""

    @abstractmethod
    def _entry(self, id: str) -> Entry | None:
        """The text of an id, as it is written or in NFC."""

    @abstractmethod
    def _first_vector(self, id: str) -> Float32Array | None:
        """The vector of the text of an id."""

    @abstractmethod
    def _knows_any(self, words: Sequence[str]) -> bool:
        """Whether a text contains one of the words."""

    def _current(self) -> State:
        """The state to search."""
        return self.state

    def _facts(self, passages: int, words: str, search: str) -> dict[str, Any]:
        """The facts that all indexes have."""
        state = self.state
        units = {"morphemes": "Korean as morphemes", "bigrams": "Korean as syllable bigrams"}
        prompts = asdict(state.prompts) if state.prompts else {}
        return {
            "texts": len(self),
            "dim": state.dim,
            "model": state.model or "none: built from vectors",
            "vectors": _vector_source(state.translation),
            "passages": passages if state.passages else "none: long texts are truncated",
            "fields": list(self.fields),
            "words": f"{words}, {units[state.analyser.hangul]}",
            "weight": state.weight,
            "learnt from": _weight_source(state.fusion),
            "search": search,
        } | {f"{name} prompt": text for name, text in prompts.items() if text}

    def _table(self) -> Table:
        state = self.state
        title = f"Index: {len(self):,} texts × {state.dim}, {state.model or 'no encoder'}"
        rows = [(entry.id, entry.text) for entry in islice(self.entries(), HEAD)]
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
            return as_vector(query, state.dim)
        text = normalize("NFC", query)
        if self._encoder or state.model:
            encoded: Float32Array = query_encoder(self.encoder, state).encode([text])[0]
            return encoded
        own = self._first_vector(text)
        if own is None:
            raise UnknownWordError(query, where="the index")
        return own

    def _words(self, state: State, query: str | Float32Array, reporter: Reporter) -> list[str]:
        """The words of a query; warns if no text has any of them."""
        if not isinstance(query, str):
            raise InvalidArgumentError("a lexical search needs a text, not a vector")
        words = state.analyser(query)
        if not self._knows_any(words):
            reporter.warn(f"no text contains any word of '{query}'")
        return words


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
