"""Documents and settings for adaptations of a tiny model."""

import json
from pathlib import Path
from typing import Any

from malmoi.tune.adapt.settings import AdaptSettings
from tests.tune.worlds import WORDS, random_texts

METHODS = ("contrastive", "mlm", "tsdae")
QUICK: dict[str, Any] = {
    "threads": 1,
    "batch_size": 8,
    "learning_rate": 1e-3,
    "max_tokens": 32,
}


def quick(**changes: Any) -> AdaptSettings:
    return AdaptSettings(**QUICK | changes)


def documents(count: int = 40, seed: int = 0) -> list[str]:
    """Different documents of two sentences."""
    firsts, seconds = random_texts(count, seed), random_texts(count, seed + 1)
    return [f"{one}. {other}." for one, other in zip(firsts, seconds, strict=True)]


def patterns(count: int = 60) -> list[str]:
    """Texts in which each word follows another one: a model can learn them."""
    starts = [(start, length) for length in range(4, 16) for start in range(len(WORDS))]
    return [
        " ".join(WORDS[(start + i) % len(WORDS)] for i in range(length))
        for start, length in starts[:count]
    ]


def save_beir(folder: Path, texts: list[str]) -> Path:
    """A BEIR folder, in which the first words of each text ask for it."""
    (folder / "qrels").mkdir(parents=True)
    corpus = [{"_id": f"d{i}", "title": "", "text": text} for i, text in enumerate(texts)]
    queries = [{"_id": f"q{i}", "text": text.split(".")[0]} for i, text in enumerate(texts[:10])]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    judged = [f"q{i}\td{i}\t1" for i in range(10)]
    (folder / "qrels" / "test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *judged]))
    return folder
