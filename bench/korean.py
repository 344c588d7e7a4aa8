"""minilm learns Korean: KorSTS and STS-B dev after a vocabulary extension, and English tokens.

The rows of new tokens come from `use`, and from parallel sentences; nothing is trained. The
vocabulary is that of a Korean BERT, or learned from Korean texts.
"""

import gzip
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import malmoi as mm
from bench.data import Data
from bench.measure import Figure, say, within
from bench.sentences import MODEL, STSB
from bench.text import CORPORA
from malmoi.errors import MalmoiWarning
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.extend.new_tokens import is_latin
from malmoi.tune.extend.result import ExtendResult

FOLDER = CORPORA.parent
KORSTS = FOLDER / "sts" / "korsts" / "sts-dev.tsv"
VOCABULARY = FOLDER / "vocab" / "koelectra-base.txt"
PARALLEL = FOLDER / "parallel" / "stsb_korsts_train.tsv"
TEXTS = [CORPORA / "kowiki.txt.gz", CORPORA / "reviews_ko.txt.gz"]
DEV = [KORSTS, STSB]
LINES = 10_000  # of enwiki
ASKED_ENGLISH, LIMIT = 86.7, 600.0
# Where tokens and rows come from, and the Spearman correlation on KorSTS dev that is asked for.
EXTENSIONS: dict[str, tuple[dict[str, Any], tuple[str, ...], float]] = {
    "vocabulary, use": ({"vocabulary": VOCABULARY}, (), 72.5),
    "vocabulary, use, parallel": ({"vocabulary": VOCABULARY}, (str(PARALLEL),), 75.0),
    "texts, use, parallel": ({"texts": TEXTS}, (str(PARALLEL),), 75.0),
}


def run(data: Data) -> Iterator[Figure]:
    """Scores of each extension; none where the data are not there."""
    if missing := [path for path in (VOCABULARY, PARALLEL, *DEV, *TEXTS) if not path.is_file()]:
        say(f"no {missing[0]} (set MALMOI_DATA): Korean is left out")
        return
    warnings.simplefilter("ignore", MalmoiWarning)
    for number, (name, (sources, parallel, asked)) in enumerate(EXTENSIONS.items()):
        say(f"{MODEL} learns Korean: {name}")
        result = mm.extend_vocabulary(
            MODEL,
            data.folder / f"korean-{number}",
            mm.ExtendSettings(parallel=parallel),
            dev=DEV,
            reporter=SilentReporter(),
            **sources,
        )
        say("; ".join(result.sentences))
        yield from scores(name, result, asked)
        yield english_lines(name, result.folder)
        yield within(f"{name}: time", result.seconds, LIMIT)


def scores(name: str, result: ExtendResult, asked_korean: float) -> Iterator[Figure]:
    """Spearman's correlations on both dev sets, beside the model as it was."""
    for language, asked, one in zip(
        ("KorSTS", "STS-B"), (asked_korean, ASKED_ENGLISH), result.dev, strict=True
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
    """Of enwiki, the lines that are tokenized in another way: none of Latin letters may be."""
    with gzip.open(CORPORA / "enwiki.txt.gz", "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in islice(file, LINES)]
    old, new = (mm.load_transformer(str(each)).tokenizer for each in (MODEL, folder))
    pairs = zip(lines, old.encode_batch(lines), new.encode_batch(lines), strict=True)
    changed = [line for line, one, other in pairs if one.ids != other.ids]
    latin = [line for line in changed if is_latin(line)]
    return Figure(
        name=f"{name}: English lines",
        ours=f"{len(latin)} + {len(changed) - len(latin)}",
        asked="0",
        met=not latin,
        remark=f"Of {len(lines):,} lines of enwiki with other ids: of Latin letters alone + with"
        " letters of other scripts (Hangul, Han, Greek …).",
    )
