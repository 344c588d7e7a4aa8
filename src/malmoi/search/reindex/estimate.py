"""Estimates how long an encoder takes for all texts of an index, from a sample of them."""

from collections.abc import Sequence
from time import perf_counter

from malmoi.encode.protocol import Encoder
from malmoi.reporting.reporter import Reporter, SilentReporter
from malmoi.search.fingerprint import document_encoder, take_fingerprint
from malmoi.search.storage.passage_offsets import embed_texts
from malmoi.search.storage.state import State
from malmoi.search.update import living_entries
from malmoi.search.writer import IndexWriter

SAMPLE_TEXTS = 32
UNITS = ((3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))


def report_estimate(writer: IndexWriter, old: State, reporter: Reporter) -> None:
    """Say how long the new model will take for the texts that it has not embedded yet."""
    entries = living_entries(old)
    rows = writer.state.find([entry.id for entry in entries])
    missing = zip(entries, rows.tolist(), strict=True)
    texts = list(dict.fromkeys(entry.text for entry, row in missing if row < 0))
    if not texts:
        return
    encoder = document_encoder(writer.encoder, writer.state)
    take_fingerprint(encoder, texts[:1])  # loads and compiles what the encoder needs
    seconds = estimate_seconds(encoder, texts, split=writer.state.passages)
    reporter.note(f"≈ {duration(seconds)} for {len(texts):,} texts")


def estimate_seconds(encoder: Encoder, texts: Sequence[str], *, split: bool) -> float:
    """Seconds to embed all texts: those of a sample, by the number of characters.

    The encoder must have encoded a text before, so that loading it does not count.
    """
    if not texts:
        return 0.0
    step = max(1, len(texts) // SAMPLE_TEXTS)
    some = texts[step // 2 :: step][:SAMPLE_TEXTS]
    start = perf_counter()
    embed_texts(encoder, some, split=split, reporter=SilentReporter())
    seconds = perf_counter() - start
    return seconds * sum(map(len, texts)) / max(1, sum(map(len, some)))


def duration(seconds: float) -> str:
    """A duration in the largest unit of which it has two, such as `12 minutes`."""
    for size, unit in UNITS:
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return "2 seconds"
