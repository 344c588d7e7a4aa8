"""ELMo pretrained on English and on Korean: perplexity beside Kneser–Ney, and `kill -9`.

`MALMOI_MINUTES` says how long each training takes, `MALMOI_LANGUAGE` restricts it to `en` or `ko`,
`MALMOI_ELMO` names the folder that the trained models `en` and `ko` are written to.
"""

import gzip
import os
import random
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.data import Data
from bench.measure import MILLION, ROOT, Figure, say
from bench.text import CORPORA
from malmoi.errors import MalmoiWarning
from malmoi.reporting.reporter import Progress, Reporter, no_progress
from malmoi.text.character_ids import CharacterUnits
from malmoi.text.corpus import Corpus
from malmoi.text.tokenizers import English
from malmoi.tune.elmo.folder import save_elmo
from malmoi.tune.elmo.pretraining import train_elmo
from malmoi.tune.elmo.result import PretrainedElmo
from malmoi.tune.elmo.settings import Elmo

MINUTES = float(os.environ.get("MALMOI_MINUTES", "30"))
TOKENIZER = English(lower=False, marks=True)
KILLS, KILLED_BYTES = 10, int(MILLION / 5)
KILLED = ("--epochs", "1", "--dim", "32", "--threads", "1", "--eval-steps", "20", "--no-ngrams")
PROGRAM = """
import sys
from malmoi.cli import run
from malmoi.files import checkpoint
checkpoint.SAVE_EVERY = 0.1
sys.exit(run(sys.argv[1:]))
"""


class Language(NamedTuple):
    """A corpus and the characters of its words."""

    code: str
    title: str
    corpus: Path
    characters: CharacterUnits


LANGUAGES = (
    Language("en", "English", CORPORA / "enwiki.txt.gz", "bytes"),
    Language("ko", "Korean", CORPORA / "kowiki.txt.gz", "jamo"),
)


class CurveReporter(Reporter):
    """Prints each perplexity on the way with the minute it was measured in."""

    def __init__(self) -> None:
        self.start = time.monotonic()

    def stage(self, name: str, unit: str = "") -> Progress:
        """A stage of the training names the latest perplexity."""
        if name.startswith("pretraining"):
            say(f"{(time.monotonic() - self.start) / 60:5.1f} minutes: {name}")
        return no_progress

    def warn(self, sentence: str) -> None:
        """Print it."""
        say(sentence)


def run(data: Data) -> Iterator[Figure]:
    """Perplexities of each language, and killed trainings; none where a corpus is not there."""
    warnings.simplefilter("ignore", MalmoiWarning)
    os.environ.setdefault(
        "OMP_WAIT_POLICY", "passive"
    )  # as the command does, before torch is there
    only = os.environ.get("MALMOI_LANGUAGE")
    for language in LANGUAGES:
        if only not in (None, language.code):
            continue
        if not language.corpus.is_file():
            say(f"no {language.corpus} (set MALMOI_DATA): no {language.title} pretraining")
            continue
        yield from pretrained(language, data)
    if LANGUAGES[0].corpus.is_file():
        yield killed(data.folder / "killed-elmo")


def pretrained(language: Language, data: Data) -> Iterator[Figure]:
    """Train on all cores, save the folder, and compare both directions."""
    settings = Elmo(
        minutes=MINUTES, characters=language.characters, threads=os.cpu_count() or 1, epochs=100
    )
    reporter = CurveReporter()
    model = train_elmo(Corpus.of(language.corpus), settings, tokenizer=TOKENIZER, reporter=reporter)
    out = Path(os.environ.get("MALMOI_ELMO", data.folder / "elmo")) / language.code
    out.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(out, ignore_errors=True)
    save_elmo(model, out)
    say(f"{out}: {model.sentence}")
    yield from perplexities(language, model)


def perplexities(language: Language, model: PretrainedElmo) -> Iterator[Figure]:
    """One figure per direction and n-gram model; the floor is the bigram, the goal the trigram."""
    assert model.ngrams is not None
    for order, peer in (("bigram", model.ngrams.bigram), ("trigram", model.ngrams.trigram)):
        for direction, ours in model.perplexity._asdict().items():
            yield Figure(
                name=f"{language.title} {direction}, {order}",
                ours=f"{ours:.1f}",
                peer=f"{peer:.1f}",
                ratio=peer / ours,
                asked="< peer",
                met=ours < peer,
            )
    settings = model.settings
    yield Figure(
        name=f"{language.title}, words/s",
        ours=f"{model.words_per_second:,.0f}",
        remark=f"{language.title}: {settings.layers} layers of 2 × {settings.dim},"
        f" {len(model.words):,} words, {model.seconds / 60:.1f} minutes on {settings.threads}"
        f" threads, {model.trained / MILLION:.1f} million words of {language.corpus.name} in"
        f" {model.steps:,} steps. Perplexity of {model.predicted:,} held-out words and sentence"
        " ends over the whole vocabulary; the peers are Kneser–Ney models of the same sentences"
        " and vocabulary, from left to right.",
    )


def killed(folder: Path) -> Figure:
    """A short training, killed at random moments until it ends; the same weights as undisturbed."""
    folder.mkdir()
    with gzip.open(LANGUAGES[0].corpus) as file:
        text = file.read(KILLED_BYTES)
    (folder / "text.txt").write_bytes(text[: text.rindex(b"\n") + 1])
    start = time.perf_counter()
    finish(begin(folder, "whole"))
    took, chance, same = time.perf_counter() - start, random.Random(1), 0
    expected = (folder / "whole" / "weights.hdf5").read_bytes()
    say(f"{KILLS} pretrainings, each killed at a random moment of {took:.1f} s and resumed")
    for _ in range(KILLS):
        process = begin(folder, "out")
        time.sleep(chance.uniform(0, took))
        process.kill()
        process.communicate()
        is_left = (folder / "out.checkpoint").exists()
        if not (folder / "out").exists():
            finish(begin(folder, "out", *["--resume"] * is_left))
        same += (folder / "out" / "weights.hdf5").read_bytes() == expected
        shutil.rmtree(folder / "out")
        (folder / "out.checkpoint").unlink(missing_ok=True)
    return Figure(
        name="ELMo, killed and resumed",
        ours=f"{same}",
        peer=f"{KILLS}",
        asked="the same bits",
        met=same == KILLS,
        remark=f"Killed: {KILLED_BYTES / MILLION:g} MB of {LANGUAGES[0].corpus.name}, one epoch,"
        f" one thread, killed at {KILLS} random moments, from the start to the end. How many"
        " resumed to the weights of an undisturbed run, bit for bit.",
    )


def begin(folder: Path, out: str, *more: str) -> "subprocess.Popen[bytes]":
    """Start the command in a process of its own."""
    words = ("train", "elmo", "text.txt", "--out", out, *KILLED, *more)
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )


def finish(process: "subprocess.Popen[bytes]") -> None:
    """Wait for the end; that it fails is an error."""
    _, printed = process.communicate()
    if process.returncode:
        raise RuntimeError(f"a pretraining ended with {process.returncode}: {printed.decode()}")
