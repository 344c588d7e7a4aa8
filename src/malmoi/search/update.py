"""An index brought up to date with its source: only what is new or has changed is embedded.

A text is known by its id, and whether it changed by a digest of text and fields. A text that
stood elsewhere keeps its vector. What is embedded is committed every few seconds, so that an
update that is interrupted goes on where it was.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

import numpy as np

from malmoi.arrays import Int64Array
from malmoi.encode.checkpoint.prompts import Prompts
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.reporting.reporter import InputTotals, Progress, Reporter, no_progress
from malmoi.search.fingerprint import check_encoder, new_state, reader_of_texts, take_probe
from malmoi.search.learn_weight import with_weight
from malmoi.search.storage.clustering import clustered
from malmoi.search.storage.folder import Folder
from malmoi.search.storage.passage_offsets import EmbeddedPassages, embed_texts
from malmoi.search.storage.segment import Entry, digests_of, embedded_segment
from malmoi.search.storage.state import State, tidied, with_segment, without

PAUSE = 10.0  # seconds of embedding between two commits
BATCH = 512  # texts that are embedded together

Digest = tuple[int, int]  # of a text


@dataclass(frozen=True)
class Update:
    """What became of the texts; `embedded` counts those that needed the encoder."""

    added: int
    changed: int
    removed: int
    unchanged: int
    embedded: int
    texts: int
    passages: int
    weight: float  # of words in a hybrid search


def update_index(
    path: str | Path,
    encoder: Encoder,
    entries: Iterable[Entry],
    *,
    keep: bool = False,
    passages: bool | None = None,
    prompts: Prompts | None = None,
    progress: Progress = no_progress,
) -> Update:
    """Make the index in a folder hold these entries; with `keep`, those it has beside them too.

    Long texts are split into `passages`, and `prompts` go before texts and queries, as
    `build_index` says; an index that is there already keeps to what it was made with.
    """
    folder = Folder(Path(path))
    with folder.writing():
        if folder.exists:
            state = folder.read()
            check_encoder(encoder, state)
            _check_same(state, passages, prompts)
        else:
            state = new_state(encoder, passages=passages is not False, prompts=prompts)
        return _Updating(folder, encoder, state).run(list(entries), keep, progress)


class _Updating:
    """The state so far, and rows that wait to be committed."""

    def __init__(self, folder: Folder, encoder: Encoder, state: State) -> None:
        self.folder, self.state, self.plain = folder, state, encoder
        self.encoder = reader_of_texts(encoder, state)
        self.waiting: list[tuple[Entry, EmbeddedPassages]] = []
        self.committed = monotonic()

    def run(self, entries: Sequence[Entry], keep: bool, progress: Progress) -> Update:
        """Sort entries into new, changed and unchanged ones, and deal with each."""
        _check_ids(entries)
        rows = self.state.find([entry.id for entry in entries])
        digests, held = digests_of(entries), _digests(self.state)
        same = rows >= 0
        same[same] = (held[rows[same]] == digests[same]).all(axis=1)
        todo = [entry for entry, is_same in zip(entries, same, strict=True) if not is_same]
        texts = [(one, two) for one, two, _ in digests[~same].tolist()]
        gone = np.empty(0, np.int64) if keep else _others(self.state, rows)
        removed = [self.state.entry(int(row)).id for row in gone]
        try:
            with InputTotals() as totals:
                embedded = self._embed(todo, texts, progress, totals)
        finally:
            self._commit()  # what was embedded when somebody interrupted it, too
        state = without(self.state, self.state.find(removed))
        self.state = self.folder.commit(with_weight(clustered(tidied(state)), self.plain))
        changed = int(np.sum(~same & (rows >= 0)))
        return Update(
            added=len(todo) - changed,
            changed=changed,
            removed=len(removed),
            unchanged=int(same.sum()),
            embedded=embedded,
            texts=self.state.count,
            passages=self.state.vector_count,
            weight=self.state.weight,
        )

    def _embed(
        self,
        entries: Sequence[Entry],
        texts: Sequence[Digest],
        progress: Progress,
        reporter: Reporter,
    ) -> int:
        """A vector for each entry: the one its text has already, or a new one."""
        known = _vectors_of(self.state, {*texts})
        new: dict[Digest, list[Entry]] = {}
        for entry, text in zip(entries, texts, strict=True):
            if (row := known.get(text)) is not None:
                self.waiting.append((entry, self.state.embedded(row)))
            else:
                new.setdefault(text, []).append(entry)
        done, alike = 0, list(new.values())
        self._take_probe([entries[0].text for entries in alike[:BATCH]])
        for start in range(0, len(alike), BATCH):
            batch = alike[start : start + BATCH]
            texts_now = [same[0].text for same in batch]
            found = embed_texts(
                self.encoder, texts_now, split=self.state.passages, reporter=reporter
            )
            for same, embedded in zip(batch, found, strict=True):
                self.waiting += [(entry, embedded) for entry in same]
            done += len(batch)
            progress(done, len(alike))
            if monotonic() - self.committed > PAUSE:
                self._commit()
        return len(alike)

    def _take_probe(self, texts: Sequence[str]) -> None:
        if self.state.probe is None and texts:
            self.state = replace(self.state, probe=take_probe(self.encoder, texts))

    def _commit(self) -> None:
        if self.waiting:
            entries, embedded = zip(*self.waiting, strict=True)
            segment = embedded_segment(entries, embedded, self.state.analyser)
            self.state = self.folder.commit(tidied(with_segment(self.state, segment)))
            self.waiting = []
        self.committed = monotonic()


def _check_same(state: State, passages: bool | None, prompts: Prompts | None) -> None:
    """Refuse what would make other vectors than those that are there."""
    if passages is not None and passages != state.passages:
        which = "with" if state.passages else "without"
        raise InvalidArgumentError(
            f"the index was made {which} passages: build it anew for a change"
        )
    if prompts is not None and prompts != state.prompts:
        raise InvalidArgumentError(
            f"the index has {state.prompts}: build it anew for other prompts"
        )


def _check_ids(entries: Sequence[Entry]) -> None:
    if not entries:
        raise InvalidFileError("there are no texts to index")
    seen = set[str]()
    for entry in entries:
        if entry.id in seen:
            raise InvalidArgumentError(f"the id '{entry.id}' comes twice: ids tell texts apart")
        seen.add(entry.id)


def _digests(state: State) -> "np.ndarray[tuple[int, int], np.dtype[np.uint64]]":
    """Of every row, [rows, 3]."""
    parts = [segment.digests for segment in state.segments]
    return np.concatenate([np.empty((0, 3), np.uint64), *parts])


def _others(state: State, rows: Int64Array) -> Int64Array:
    """The living rows that are none of these."""
    living = state.living.copy()
    living[rows[rows >= 0]] = False
    return np.flatnonzero(living)


def _vectors_of(state: State, texts: set[Digest]) -> dict[Digest, int]:
    """A living row for each text that has one already."""
    living = np.flatnonzero(state.living)
    pairs = zip(_digests(state)[living, :2].tolist(), living.tolist(), strict=True)
    return {text: row for (one, two), row in pairs if (text := (one, two)) in texts}
