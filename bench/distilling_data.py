"""Texts to distill on: translations with 1,000 pairs held out, and Korean sentences alone."""

import gzip
import random
import re
from pathlib import Path

from bench.text import CORPORA
from malmoi.evaluate.sets.sentence_sets import read_sentences
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.distill.parallel import DistillData, TranslationPair, one_to_one, read_pairs

ROOT = CORPORA.parent
STS_PAIRS = ROOT / "parallel" / "stsb_korsts_train.tsv"
TATOEBA = ROOT / "parallel" / "manythings-kor-eng.txt"
KORSTS = ROOT / "sts" / "korsts" / "sts-dev.tsv"
KORSTS_TRAIN = KORSTS.with_name("sts-train.tsv")
STSB = ROOT / "sts" / "stsb_en" / "stsb-en-dev.csv"
VOCABULARY = ROOT / "vocab" / "koelectra-base.txt"
HELD_OUT = 1000
SENTENCE = re.compile(r"(?<=[.?!])\s+")
LENGTHS = (12, 60)  # characters of a Korean sentence


def is_there() -> bool:
    """Whether the data sets are installed."""
    return all(path.is_file() for path in (STS_PAIRS, TATOEBA, KORSTS, STSB, VOCABULARY))


def distill_data(folder: Path, sentences: int) -> DistillData:
    """All pairs but those with a held-out or dev text, as files, and some Korean sentences."""
    held, rest = split_tatoeba()
    _, scored = read_pairs(STS_PAIRS, (), SilentReporter())
    # No stage, the rows of new tokens neither, may see a text that is measured.
    measured = {text for pair in held for text in pair}
    for dev in (KORSTS, STSB):
        measured |= {text for pair in read_sentences(dev).pairs for text in pair[:2]}
    paths = [folder / f"{name}.tsv" for name in ("held-out", "tatoeba", "sts-pairs")]
    for path, pairs in zip(paths, (held, rest, scored), strict=True):
        kept = pairs if pairs is held else [pair for pair in pairs if measured.isdisjoint(pair)]
        path.write_text("".join(f"{one}\t{other}\n" for one, other in kept), encoding="utf-8")
    korean = folder / "korean.txt"
    if sentences:
        korean.write_text("\n".join(korean_sentences(sentences)), encoding="utf-8")
    return DistillData(parallel=paths[1:], texts=korean if sentences else (), translations=paths[0])


def split_tatoeba() -> tuple[list[TranslationPair], list[TranslationPair]]:
    """1,000 pairs of which no two share a text, and all others."""
    _, pairs = read_pairs(TATOEBA, (), SilentReporter())
    shuffled = list(dict.fromkeys(pairs))
    random.Random(0).shuffle(shuffled)
    held = one_to_one(shuffled)[:HELD_OUT]
    return held, [pair for pair in pairs if pair not in set(held)]


def korean_sentences(count: int) -> list[str]:
    """Short sentences, half from Wikipedia and half from reviews of films."""
    chosen: list[str] = []
    for name, number in (("kowiki", count - count // 2), ("reviews_ko", count // 2)):
        with gzip.open(CORPORA / f"{name}.txt.gz", "rt", encoding="utf-8") as lines:
            split = (part for line in lines for part in SENTENCE.split(line.strip()))
            fitting = [part for part in split if LENGTHS[0] <= len(part) <= LENGTHS[1]]
        random.Random(0).shuffle(fitting)
        chosen += list(dict.fromkeys(fitting))[:number]
    return chosen
