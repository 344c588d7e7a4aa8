"""Entries embedded, as a segment that a state can take."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from malmoi.encode.protocol import Encoder
from malmoi.reporting.reporter import Progress, ProgressCallback, no_progress
from malmoi.search.fingerprint import reader_of_texts, take_probe
from malmoi.search.storage.passage_offsets import embed_texts
from malmoi.search.storage.segment import Entry, Segment, embedded_segment
from malmoi.search.storage.state import EncoderFingerprint, State, with_segment


@dataclass(frozen=True, eq=False)
class EmbeddedEntries:
    """What is to be added, and a probe for an index that has none yet."""

    segment: Segment
    probe: EncoderFingerprint | None

    def to(self, state: State) -> State:
        """The same state with these entries; those whose ids come again are replaced."""
        return replace(with_segment(state, self.segment), probe=state.probe or self.probe)


def make_addition(
    state: State, encoder: Encoder, entries: Sequence[Entry], progress: Progress = no_progress
) -> EmbeddedEntries:
    """Embed entries as the texts of this state are."""
    reader, texts = reader_of_texts(encoder, state), [entry.text for entry in entries]
    embedded = embed_texts(reader, texts, split=state.passages, reporter=ProgressCallback(progress))
    segment = embedded_segment(entries, embedded, state.analyser)
    return EmbeddedEntries(segment, state.probe or take_probe(reader, texts))
