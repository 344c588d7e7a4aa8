"""minilm learns Korean: KorSTS and STS-B dev after a vocabulary extension, and English tokens.

The rows of new tokens come from `use`; nothing is trained.
"""

import gzip
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import malmoi as mm
from bench.data import Data
from bench.measure import Figure, say, within
from bench.sentences import MODEL, STSB
from bench.text import CORPORA
from malmoi.errors import MalmoiWarning
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.extend.result import ExtendResult

FOLDER = CORPORA.parent
KORSTS = FOLDER / "sts" / "korsts" / "sts-dev.tsv"
VOCABULARY = FOLDER / "vocab" / "koelectra-base.txt"
TEXTS = [CORPORA / "kowiki.txt.gz", CORPORA / "reviews_ko.txt.gz"]
DEV = [KORSTS, STSB]
LINES = 10_000  # of enwiki
ASKED_KOREAN, ASKED_ENGLISH, LIMIT = 72.5, 86.7, 600.0
TOKENS_REMARK = "Lines whose token ids differ from minilm's own; others of them hold Hangul."


def run(data: Data) -> Iterator[Figure]:
    """Scores with a ready vocabulary and with a learned one; none where the data are not there."""
    if not VOCABULARY.is_file() or not KORSTS.is_file():
        say(f"no {VOCABULARY} or {KORSTS} (set MALMOI_DATA): Korean is left out")
        return
    warnings.simplefilter("ignore", MalmoiWarning)
    for name, result in extensions(data.folder):
        say("; ".join(result.sentences))
        yield from scores(name, result)
        yield english_lines(name, result.folder)
        yield within(f"{name}: time", result.seconds, LIMIT)


def extensions(folder: Path) -> Iterator[tuple[str, ExtendResult]]:
    """minilm with the tokens of a vocabulary, and with tokens learned from texts."""
    quiet = SilentReporter()
    say(f"{MODEL} with the tokens of {VOCABULARY.name}")
    out = folder / "vocabulary"
    yield (
        "koelectra's tokens",
        mm.extend_vocabulary(MODEL, out, vocabulary=VOCABULARY, dev=DEV, reporter=quiet),
    )
    if all(path.is_file() for path in TEXTS):
        say(f"{MODEL} with tokens learned from {', '.join(path.name for path in TEXTS)}")
        out = folder / "texts"
        yield (
            "learned tokens",
            mm.extend_vocabulary(MODEL, out, texts=TEXTS, dev=DEV, reporter=quiet),
        )


def scores(name: str, result: ExtendResult) -> Iterator[Figure]:
    """Spearman's correlations on both dev sets, beside the model as it was."""
    for language, asked, one in zip(
        ("KorSTS", "STS-B"), (ASKED_KOREAN, ASKED_ENGLISH), result.dev, strict=True
    ):
        before, after = (100 * (score.value or 0.0) for score in (one.before, one.after))
        yield Figure(
            name=f"{name}: {language} dev",
            ours=f"{after:.2f}",
            peer=f"{before:.2f}",
            asked=f"≥ {asked}",
            met=after >= asked,
            remark=f"The peer is {MODEL} as it is." if language == "KorSTS" else "",
        )


def english_lines(name: str, folder: Path) -> Figure:
    """Of enwiki, the lines that are tokenized in another way; those with Hangul do not count."""
    with gzip.open(CORPORA / "enwiki.txt.gz", "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in islice(file, LINES)]
    old, new = (mm.load_transformer(str(each)).tokenizer for each in (MODEL, folder))
    pairs = zip(lines, old.encode_batch(lines), new.encode_batch(lines), strict=True)
    changed = [line for line, one, other in pairs if one.ids != other.ids]
    korean = [line for line in changed if any("가" <= letter <= "힣" for letter in line)]
    return Figure(
        name=f"{name}: English lines",
        ours=f"{len(changed) - len(korean)} + {len(korean)}",
        asked="0",
        met=len(changed) == len(korean),
        remark=f"Of {len(lines):,} lines of enwiki. {TOKENS_REMARK}",
    )
