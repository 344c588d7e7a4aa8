"""A tiny bilingual world: the second language has a word of its own for every word."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from malmoi.tune.distill.settings import DistillSettings
from tests.encode.checkpoints import TOKENS
from tests.tune.worlds import WORDS, random_texts, tiny_model

OTHER = {"the": "тот", "bank": "банк", "river": "река", "robber": "вор", "robbers": "воры",
         "fish": "рыба", "fishing": "ловля", "a": "один"}  # fmt: skip
QUICK: dict[str, Any] = {
    "threads": 1, "batch_size": 16, "epochs": 8, "held_out": 30, "learning_rate": 1e-3,
    "rows_learning_rate": 2e-2,
}  # fmt: skip


def translate(text: str) -> str:
    """The same words in the other language, in reverse order."""
    return " ".join(OTHER[word] for word in reversed(text.split()))


def translations(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Different texts with their translations."""
    return [(text, translate(text)) for text in random_texts(count, seed)]


def quick(teacher: str, **changes: Any) -> DistillSettings:
    """Settings for a tiny student."""
    return DistillSettings(**QUICK | {"teacher": teacher} | changes)


def teacher_and_student(folder: Path, rows: str = "random") -> tuple[str, str]:
    """A model, and the same with tokens for the other language, whose rows are random or 0."""
    teacher = tiny_model(folder / "teacher")
    student = tiny_model(folder / "student")
    path = Path(student) / "tokenizer.json"
    tokenizer = json.loads(path.read_text(encoding="utf-8"))
    new = [word for word in OTHER.values() if word not in TOKENS]
    tokenizer["model"]["vocab"] |= {word: len(TOKENS) + i for i, word in enumerate(new)}
    path.write_text(json.dumps(tokenizer), encoding="utf-8")
    weights = load_file(Path(student) / "model.safetensors")
    table = weights["embeddings.word_embeddings.weight"]
    random = np.random.default_rng(0).normal(0, table.std(), (len(new), table.shape[1]))
    added = random if rows == "random" else np.zeros_like(random)
    weights["embeddings.word_embeddings.weight"] = np.concatenate([table, added.astype("f4")])
    save_file(weights, Path(student) / "model.safetensors", {"format": "pt"})
    config = Path(student) / "config.json"
    values = json.loads(config.read_text()) | {"vocab_size": len(table) + len(new)}
    config.write_text(json.dumps(values))
    return teacher, student


assert set(OTHER) == set(WORDS)
