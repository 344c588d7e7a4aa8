"""minilm becomes bilingual: distillation into its extended student, and runs that collapse.

The student is minilm with Korean tokens, the teacher minilm itself. Times are CPU minutes of one
thread, so that a loaded machine changes nothing.
"""

import shutil
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import malmoi as mm
from bench.collapsing import collapses
from bench.data import Data
from bench.distilling_data import KORSTS, KORSTS_TRAIN, STSB, VOCABULARY, distill_data, is_there
from bench.measure import Figure, say
from bench.sentences import MODEL
from malmoi.encode.checkpoint.weights import read_weights, weights_file
from malmoi.errors import MalmoiWarning
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.distill.parallel import parallel_sources

QUIET = SilentReporter()
SENTENCES = 0  # of Korean without a translation
SETTINGS = mm.DistillSettings(epochs=3, bridge="use", threads=1)
TUNING = mm.TuneSettings(
    epochs=1, freeze_layers=3, learning_rate=5e-5, objective="cosine", threads=1
)
ASKED = {"sts-dev": 76.0, "stsb-en-dev": 86.3, "target→source": 75.0}
ASKED_TUNED, ASKED_MINUTES = 81.0, 40.0  # CPU minutes: 20 of two cores
ROWS_REMARK = (
    "One step for the table of tokens alone, 64 texts: only the rows of a batch, beside AdamW over"
    " all rows with a dense gradient."
)


def run(data: Data) -> Iterator[Figure]:
    """Scores after each stage, then the guard; none where the data sets are not there."""
    if not is_there():
        say(f"no {KORSTS} or others (set MALMOI_DATA): distilling is left out")
        return
    warnings.simplefilter("ignore", MalmoiWarning)
    given = distill_data(data.folder, SENTENCES)
    student, out = data.folder / "extended", data.folder / "distilled"
    paths = tuple(str(path) for path in parallel_sources(given.parallel))
    extending = mm.ExtendSettings(parallel=paths)  # without the held-out pairs
    mm.extend_vocabulary(MODEL, student, extending, vocabulary=VOCABULARY, reporter=QUIET)
    say(f"distilling {MODEL} into {MODEL} with Korean tokens")
    started = time.process_time()
    result = mm.distill(given, str(student), out, SETTINGS, dev=[KORSTS, STSB], reporter=QUIET)
    yield from scores(result, (time.process_time() - started) / 60)
    yield tuned(out, data.folder / "tuned")
    yield row_updates(student)
    yield from collapses(given, student, data.folder)
    shutil.rmtree(out)


def scores(result: mm.DistillResult, minutes: float) -> Iterator[Figure]:
    """One line per score; the peer is the untrained student."""
    for row in result.scores:
        name = next((name for name in ASKED if name in f"{row.task} {row.metric}"), "")
        before, after = (100 * (score.value or 0.0) for score in row.scores)
        yield Figure(
            name=name or row.metric,
            ours=f"{after:.2f}",
            peer=f"{before:.2f}",
            asked=f"≥ {ASKED[name]:g}" if name else "",
            met=after >= ASKED[name] if name else None,
        )
    sentences = "; ".join(result.sentences())
    yield Figure(
        name="CPU minutes",
        ours=f"{minutes:.1f}",
        asked=f"≤ {ASKED_MINUTES:g}",
        met=minutes <= ASKED_MINUTES,
        remark=(
            f"The peer is the extended student without training. {sentences}. Held-out R²"
            f" {result.history[0][1]:.3f} → {result.r2:.3f}, {result.steps:,} steps."
        ),
    )


def tuned(model: Path, out: Path) -> Figure:
    """KorSTS dev after the student was tuned on KorSTS train."""
    result = mm.tune_sentence(KORSTS_TRAIN, str(model), out, TUNING, dev=KORSTS, reporter=QUIET)
    before, after = (100 * (score.value or 0.0) for score in (result.before, result.after) if score)
    return Figure(
        name="+ KorSTS train: KorSTS dev",
        ours=f"{after:.2f}",
        peer=f"{before:.2f}",
        asked=f"≥ {ASKED_TUNED:g}",
        met=after >= ASKED_TUNED,
        remark=f"{result.sentence}, {result.seconds / 60:.1f} minutes.",
    )


def row_updates(student: Path) -> Figure:
    """The time of one update of the table of tokens, beside AdamW's."""
    import torch
    from torch import nn

    from malmoi.tune.network.row_adam import RowAdam

    torch.set_num_threads(1)
    encoder = mm.load_transformer(str(student))
    weights: Any = read_weights(weights_file(student), encoder.config)["word_embeddings"]
    ids = torch.from_numpy(np.random.default_rng(0).integers(len(weights), size=64 * 12))
    took = []
    for is_sparse in (True, False):
        table = nn.Parameter(torch.from_numpy(np.array(weights)))
        rows, adamw = RowAdam(table), torch.optim.AdamW([table], fused=True)
        best = float("inf")
        for _ in range(4):
            start = time.process_time()
            nn.functional.embedding(ids, table, sparse=is_sparse).sum().backward()  # type: ignore[no-untyped-call]
            if is_sparse:
                rows.update(1e-3)
            else:
                adamw.step()
                adamw.zero_grad()
            best = min(best, time.process_time() - start)
        took.append(best)
    return Figure(
        name="update of the token table",
        ours=f"{1000 * took[0]:.1f} ms",
        peer=f"{1000 * took[1]:.0f} ms",
        ratio=took[1] / took[0],
        remark=ROWS_REMARK,
    )
