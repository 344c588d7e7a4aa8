"""Sentences in which some words follow others, and settings of quick pretrainings."""

import random
from typing import Any

from malmoi.reporting.reporter import SilentReporter
from malmoi.train.common.inputs import encode_text
from malmoi.tune.elmo.sentences import CorpusText, prepare_text
from malmoi.tune.elmo.settings import Elmo

QUICK: dict[str, Any] = {
    "dim": 12,
    "filters": ((1, 4), (2, 6), (3, 8)),
    "batch_size": 64,
    "negative_samples": 8,
    "max_length": 12,
    "min_count": 1,
    "held_out": 0.1,
    "epochs": 2,
    "eval_steps": 10,
    "threads": 1,
    "ngrams": False,
    "lsa": False,
}
SUBJECTS = ("the cat", "a dog", "여자가", "the very old man")
VERBS = ("sees", "bites", "좋아한다", "follows")
OBJECTS = ("me .", "you !", "한국 사람", "internationalization ?")


def quick(**changes: Any) -> Elmo:
    return Elmo(**QUICK | changes)


def sentences(count: int = 80, seed: int = 0) -> list[str]:
    """Lines of one to three sentences."""
    chance = random.Random(seed)
    return [
        " ".join(
            f"{chance.choice(SUBJECTS)} {chance.choice(VERBS)} {chance.choice(OBJECTS)}"
            for _ in range(chance.randint(1, 3))
        )
        for _ in range(count)
    ]


def corpus_text(lines: list[str], settings: Elmo) -> CorpusText:
    return prepare_text(encode_text(lines, reporter=SilentReporter()), settings)
