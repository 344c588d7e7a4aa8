"""Writers of an index: they embed entries and commit them, in memory or to a folder.

A writer to disk commits every few seconds, so that an interrupted run continues where it
stopped. Knows nothing of sources, nor of which entries have changed.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from time import monotonic

import numpy as np

from malmoi.encode.protocol import Encoder
from malmoi.reporting.reporter import DEFAULT_REPORTER, Progress, Reporter, WithinStage
from malmoi.search.fingerprint import document_encoder, take_fingerprint
from malmoi.search.learn_weight import with_weight
from malmoi.search.storage.clusters import (
    APPROXIMATE_FROM,
    MIN_CLUSTERED_ROWS,
    can_cluster,
    make_clusters,
)
from malmoi.search.storage.entry import Entry
from malmoi.search.storage.folder import Folder
from malmoi.search.storage.passage_offsets import EmbeddedPassages, embed_texts
from malmoi.search.storage.segment import embedded_segment
from malmoi.search.storage.state import State, compact, merge_segments, with_segment
from malmoi.table import Table, Tabular

COMMIT_EVERY = 10.0  # seconds of embedding
BATCH_TEXTS = 512  # texts embedded between two checks of the clock
RECLUSTER_ABOVE = 0.2  # share of the rows that the clusters do not know

VectorsByText = Mapping[str, EmbeddedPassages]
NO_VECTORS: VectorsByText = {}


@dataclass(frozen=True)
class IndexUpdate(Tabular):
    """What an update did; `embedded` counts the texts that needed the encoder."""

    added: int
    changed: int
    removed: int
    unchanged: int
    embedded: int
    texts: int
    passages: int
    weight: float  # of words in a hybrid search

    def _table(self) -> Table:
        values = asdict(self)
        return Table(f"Index of {self.texts:,} texts", list(values), [list(values.values())])


class EntryWriter(ABC):
    """Embeds entries and commits them: every few seconds, if `commits_often`."""

    def __init__(self, state: State, encoder: Encoder) -> None:
        self.state, self.encoder = state, encoder
        self._pending: list[tuple[Entry, EmbeddedPassages]] = []
        self._committed_at = monotonic()

    def embed(
        self,
        entries: Sequence[Entry],
        *,
        known: VectorsByText = NO_VECTORS,
        reporter: Reporter = DEFAULT_REPORTER,
    ) -> int:
        """Embed entries in order and return how many different texts the encoder embedded.

        `known` are the vectors of texts that are embedded already. A text that occurs several
        times is embedded once.
        """
        encoder = document_encoder(self.encoder, self.state)
        progress = reporter.stage("embedding texts", "texts")
        repeated = {text for text, n in Counter(one.text for one in entries).items() if n > 1}
        shared: dict[str, EmbeddedPassages] = {}  # of repeated texts
        step, count = (BATCH_TEXTS if self.commits_often else max(1, len(entries))), 0
        try:
            with WithinStage(reporter, progress) as calls:
                for start in range(0, len(entries), step):
                    batch = entries[start : start + step]
                    texts = dict.fromkeys(one.text for one in batch)
                    new = [one for one in texts if one not in known and one not in shared]
                    calls.progress = _part(progress, start, len(batch), len(entries))
                    vectors = self._embed_texts(encoder, new, calls)
                    shared |= {text: vectors[text] for text in new if text in repeated}
                    for entry in batch:
                        own = vectors.get(entry.text) or shared.get(entry.text)
                        self._pending.append((entry, own or known[entry.text]))
                    count += len(new)
                    progress(start + len(batch), len(entries))
                    if self.commits_often and monotonic() - self._committed_at > COMMIT_EVERY:
                        self._commit_now()
        finally:
            if self.commits_often:
                self._commit_now()  # also what was embedded before an interruption
        return count

    @property
    @abstractmethod
    def commits_often(self) -> bool:
        """Whether entries are committed while others are still to be embedded."""

    @abstractmethod
    def commit(self) -> None:
        """Write the pending entries, if there are any."""

    def _commit_now(self) -> None:
        self.commit()
        self._committed_at = monotonic()

    def _embed_texts(
        self, encoder: Encoder, texts: Sequence[str], reporter: Reporter
    ) -> dict[str, EmbeddedPassages]:
        """The vectors of texts; the first of them become the fingerprint of the encoder."""
        if not texts:
            return {}
        if self.state.probe is None:
            self.state = replace(self.state, probe=take_fingerprint(encoder, texts))
        vectors = embed_texts(encoder, texts, split=self.state.passages, reporter=reporter)
        return dict(zip(texts, vectors, strict=True))


class IndexWriter(EntryWriter):
    """A state to which entries are added; `folder` is None for an index in memory."""

    def __init__(self, state: State, encoder: Encoder, folder: Folder | None = None) -> None:
        super().__init__(state, encoder)
        self.folder = folder

    @property
    def commits_often(self) -> bool:
        """Whether entries are committed while others are still to be embedded."""
        return self.folder is not None

    def commit(self) -> None:
        """Move the pending entries into the state, and write it if there is a folder."""
        if self._pending:
            self.state = merge_segments(self._with_pending())
            self.state = self.folder.commit(self.state) if self.folder else self.state

    def finish(self, prepare: Callable[[State], State] = merge_segments) -> State:
        """Add the pending entries, apply `prepare`, learn the hybrid weight, and commit."""
        state = with_weight(prepare(self._with_pending()), self.encoder)
        self.state = self.folder.commit(state) if self.folder else state
        return self.state

    def _with_pending(self) -> State:
        if not self._pending:
            return self.state
        entries, embedded = zip(*self._pending, strict=True)
        segment = embedded_segment(entries, embedded, self.state.analyser)
        self._pending = []
        return with_segment(self.state, segment)


def with_clusters(
    state: State, approximate: bool | None = None, reporter: Reporter = DEFAULT_REPORTER
) -> State:
    """The state with clusters where it has many rows, or if `approximate` is set.

    Clustering rewrites all rows into one segment. Clusters that know most rows stay as they are.
    """
    if approximate is None:
        approximate = state.vector_count > APPROXIMATE_FROM
        if approximate and not can_cluster():
            reporter.warn(
                f"{state.count:,} texts are searched exhaustively: pip install 'malmoi[search]'"
                " makes searches faster"
            )
            return state
    if not approximate or state.count == 0:
        return replace(state, clusters=None)
    if state.clusters and state.count - state.counts[0] <= RECLUSTER_ABOVE * state.count:
        return state
    state = compact(state)
    clusters = make_clusters(vectors := state.segments[0].vectors)
    if clusters is None:
        count = np.count_nonzero(vectors.norms)
        reporter.warn(
            f"clusters need {MIN_CLUSTERED_ROWS:,} vectors that are not zero, and there are"
            f" {count:,}: every vector is searched"
        )
    return replace(state, clusters=clusters)


def _part(progress: Progress, start: int, size: int, total: int) -> Progress:
    """Progress within a batch, as progress of the whole."""
    return lambda done, of: progress(start + size * done // max(1, of), total)
