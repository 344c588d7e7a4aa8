"""A static student of `use` for Korean and English: its scores, its speed, and tuning it.

It is distilled in a limited time from sentences of Wikipedia, reviews and STS train sets; none of
the texts that it is tested on is among them.
"""

import csv
import gzip
import random
import re
import time
import warnings
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

import numpy as np

import malmoi as mm
from bench.data import Data
from bench.measure import Figure, say
from bench.text import CORPORA
from malmoi.encode.protocol import Encoder
from malmoi.encode.static.static_encoder import load_static
from malmoi.errors import MalmoiWarning
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.data.examples import read_examples
from malmoi.tune.sentence.settings import TuneSettings
from malmoi.tune.static.tune_pairs import tune_static

ROOT = CORPORA.parent
KORSTS, STSB = ROOT / "sts" / "korsts", ROOT / "sts" / "stsb_en"
PARALLEL, PARAKQC = ROOT / "parallel", ROOT / "parakqc" / "paraKQC_v1.txt"
TEACHER, MINUTES = "use", 14.0
SETTINGS = mm.StaticSettings(minutes=MINUTES)
# A corpus, the share of its sentences in the mixture, and how many characters they have.
SOURCES = (
    ("kowiki.txt.gz", 0.33, range(8, 71)),
    ("enwiki.txt.gz", 0.42, range(15, 131)),
    ("reviews_ko.txt.gz", 0.25, range(8, 61)),
)
HELD_OUT, GROUP = 1000, 10  # pairs of translations, and questions of a paraphrase group
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
SPEED_TEXTS, TEACHER_TEXTS, ROUNDS = 100_000, 2_000, 3
ASKED_SPEED = 40
QUIET = SilentReporter()
REMARK = (
    f"Distilled from {TEACHER} in {MINUTES:g} minutes at most, all in one table of tokens. Spearman"
    " of cosines and scores on dev sets. The peer is the teacher itself; for the tuned student, the"
    " student before. Texts per CPU second: Korean reviews, new ones in each round. Groups:"
    " how often the nearest other question of paraKQC is of the same group. Translations: how often"
    " a Korean sentence finds its own among 1,000 English ones of manythings, which are held out."
)
Pairs = list[tuple[str, str]]


def run(data: Data) -> Iterator[Figure]:
    """Scores of the student and of its teacher, speed, then the tuned student."""
    if not (KORSTS.is_dir() and PARALLEL.is_dir() and PARAKQC.is_file()):
        say(f"no sentences in {ROOT} (set MALMOI_DATA): students are left out")
        return
    warnings.simplefilter("ignore", MalmoiWarning)
    held_out, others = translations()
    texts = training_texts(others, held_out)
    say(f"{len(texts):,} texts for {TEACHER}, {MINUTES:g} minutes")
    folder = data.folder / "student"
    result = mm.distill_static(texts, TEACHER, folder, SETTINGS, reporter=QUIET)
    say(f"{result.texts:,} texts, {result.tokens:,} tokens, {result.sentence}")
    yield Figure(
        name="static student, minutes",
        ours=f"{result.seconds / 60:.1f}",
        asked="≤ 15",
        met=result.seconds <= 15 * 60,
        remark=f"{REMARK} {result.texts:,} texts, {result.tokens:,} tokens × {result.dim}.",
    )
    student, teacher = mm.load_encoder(str(folder)), mm.load_encoder(TEACHER)
    dev = {"KorSTS dev": (KORSTS / "sts-dev.tsv", 74), "STS-B dev": (STSB / "stsb-en-dev.csv", 72)}
    for name, (path, asked) in dev.items():
        ours, theirs = (spearman(each, path) for each in (student, teacher))
        yield score(name, ours, theirs, asked)
    yield score("translations ko → en, %", *(found(e, held_out) for e in (student, teacher)))
    yield speed(student, teacher)
    yield from tuned(data, folder)


def tuned(data: Data, folder: Path) -> Iterator[Figure]:
    """The student after cosine regression on KorSTS train."""
    before, out = load_static(str(folder)), data.folder / "tuned-student"
    examples = read_examples(KORSTS / "sts-train.tsv", "cosine", reporter=QUIET)
    start = time.process_time()
    tune_static([examples], before, out, TuneSettings(), reporter=QUIET)
    say(f"tuned in {time.process_time() - start:.1f} s")
    after, path = load_static(str(out)), KORSTS / "sts-dev.tsv"
    yield score("tuned: KorSTS dev", spearman(after, path), spearman(before, path), 80)
    groups = [in_group(each) for each in (after, before)]
    yield Figure(
        name="tuned: paraKQC groups, %",
        ours=f"{groups[0]:.2f}",
        peer=f"{groups[1]:.2f}",
        asked="not lower",
        met=groups[0] >= groups[1],
    )


def score(name: str, ours: float, peer: float, asked: float | None = None) -> Figure:
    """Two scores of 100."""
    met = None if asked is None else ours >= asked
    limit = "" if asked is None else f"≥ {asked:g}"
    return Figure(name=name, ours=f"{ours:.2f}", peer=f"{peer:.2f}", asked=limit, met=met)


def spearman(encoder: Encoder, path: Path) -> float:
    """Spearman's correlation on a dev set, times 100."""
    return 100 * (mm.sentence_similarity(encoder, path, reporter=QUIET).spearman.value or 0.0)


def found(encoder: Encoder, pairs: Pairs) -> float:
    """How often a Korean sentence is nearest to its own translation, in percent."""
    english, korean = (encoder.encode(side, reporter=QUIET) for side in zip(*pairs, strict=True))
    return 100 * float(np.mean((korean @ english.T).argmax(axis=1) == np.arange(len(pairs))))


def in_group(encoder: Encoder) -> float:
    """How often the nearest other question is of the same paraphrase group, in percent."""
    vectors = encoder.encode(questions(), reporter=QUIET)
    groups = np.arange(len(vectors)) // GROUP
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    return 100 * float(np.mean(groups[cosines.argmax(axis=1)] == groups))


def speed(student: Encoder, teacher: Encoder) -> Figure:
    """Texts per CPU second of Korean reviews, the best of some rounds, each with new texts."""
    with gzip.open(CORPORA / "reviews_ko.txt.gz", "rt", encoding="utf-8") as file:
        reviews = [line.strip() for line in islice(file, ROUNDS * SPEED_TEXTS)]
    best = [0.0, 0.0]
    for first in range(0, len(reviews), SPEED_TEXTS):
        many = reviews[first : first + SPEED_TEXTS]
        for number, (encoder, given) in enumerate(
            ((student, many), (teacher, many[:TEACHER_TEXTS]))
        ):
            start = time.process_time()
            encoder.encode(given, reporter=QUIET)
            best[number] = max(best[number], len(given) / (time.process_time() - start))
    ours, theirs = best
    return Figure(
        name="Korean texts per CPU second",
        ours=f"{ours:,.0f}/s",
        peer=f"{theirs:,.0f}/s",
        ratio=ours / theirs,
        asked=f"≥ {ASKED_SPEED}×",
        met=ours / theirs >= ASKED_SPEED,
    )


def questions() -> list[str]:
    """The questions of paraKQC, ten of a group after each other."""
    return [line[2] for line in tab_separated(PARAKQC)]


def translations() -> tuple[Pairs, Pairs]:
    """English and Korean sentences: those held out, and those of manythings to train on."""
    pairs: Pairs = []
    seen: set[str] = set()
    for english, korean, *_ in tab_separated(PARALLEL / "manythings-kor-eng.txt"):
        if not {english, korean} & seen:
            pairs.append((english, korean))
            seen |= {english, korean}
    random.Random(0).shuffle(pairs)
    return pairs[:HELD_OUT], pairs[HELD_OUT:]


def training_texts(parallel: Pairs, held_out: Pairs) -> list[str]:
    """Parallel sentences, then a mixture of the corpora, without any text that is tested on."""
    tested = set(chain(*held_out))
    tested |= {text for line in tab_separated(KORSTS / "sts-dev.tsv") for text in line[5:7]}
    with (STSB / "stsb-en-dev.csv").open(encoding="utf-8") as file:
        tested |= {text for line in csv.reader(file) for text in line[:2]}
    pairs = chain(parallel, tab_separated(PARALLEL / "stsb_korsts_train.tsv"))
    texts = dict.fromkeys(text.strip() for pair in pairs for text in pair)
    drawn = random.Random(1)
    sources = [iter(sentences(name, lengths, drawn)) for name, _, lengths in SOURCES]
    shares = [share for _, share, _ in SOURCES]
    while (text := next(drawn.choices(sources, shares)[0], None)) is not None:
        texts[text] = None
    return [text for text in texts if text not in tested]


def sentences(name: str, lengths: range, drawn: random.Random) -> list[str]:
    """The different sentences of a corpus with these numbers of characters, shuffled."""
    with gzip.open(CORPORA / name, "rt", encoding="utf-8") as file:
        every = (text for line in file for text in SENTENCE_END.split(line.strip()))
        some = list(dict.fromkeys(text for text in every if len(text) in lengths))
    drawn.shuffle(some)
    return some


def tab_separated(path: Path) -> Iterator[list[str]]:
    """The fields of each line of a file."""
    with path.open(encoding="utf-8") as file:
        yield from (line.rstrip("\n").split("\t") for line in file)
