"""Shards of texts for tests, and a small file of word vectors as their encoder."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from malmoi import Vectors, save
from malmoi.arrays import Float32Array
from malmoi.scale import open_vectors

WORDS = ["the", "bank", "river", "money", "서울", "한국", "은행", "tea"]


def write_vectors(folder: Path, name: str = "words.malmoi", seed: int = 3) -> str:
    """A file of word vectors."""
    matrix = np.random.default_rng(seed).normal(size=(len(WORDS), 6)).astype(np.float32)
    save(Vectors(WORDS, matrix), folder / name)
    return str(folder / name)


def sentences(count: int, seed: int = 0) -> list[str]:
    """Texts of known words, each different."""
    random = np.random.default_rng(seed)
    return [
        " ".join([WORDS[i] for i in random.integers(0, len(WORDS), 4)]) + f" {number}"
        for number in range(count)
    ]


def write_shards(folder: Path, shards: int = 4, rows: int = 30) -> Path:
    """Parquet files with the columns `id` and `text`."""
    folder.mkdir()
    for shard in range(shards):
        texts = sentences(rows, shard)
        ids = [f"{shard}-{row}" for row in range(rows)]
        pq.write_table(pa.table({"id": ids, "text": texts}), folder / f"part-{shard}.parquet")
    return folder


def write_every_kind(folder: Path, texts: list[str]) -> None:
    """The same texts as lines, JSON lines, a table and Parquet."""
    folder.mkdir()
    (folder / "a.txt").write_text("".join(f"{text}\n" for text in texts), "utf-8")
    lines = [json.dumps({"text": text}, ensure_ascii=False) for text in texts]
    (folder / "b.jsonl").write_text("\n".join(lines), "utf-8")
    (folder / "c.csv").write_text("text\n" + "\n".join(texts) + "\n", "utf-8")
    pq.write_table(pa.table({"text": texts}), folder / "d.parquet")


def write_corpus(folder: Path, words: int = 5000) -> Path:
    """A text whose words are as frequent as those of a language, with empty and odd lines."""
    numbers = np.random.default_rng(5).zipf(1.4, words)
    tokens = [f"{WORDS[number % len(WORDS)]}{number}" for number in numbers.tolist()]
    lines = [" ".join(tokens[i : i + 9]) for i in range(0, words, 9)]
    lines[3:3] = ["", "\u1112\u1161\u11ab\u1100\u116e\u11a8", "  spaces\tand tabs  "]
    path = folder / "corpus.txt"
    path.write_text("\n".join(lines), "utf-8")  # without a line feed at the end
    return path


def vectors_by_location(folder: Path) -> dict[str, Float32Array]:
    """Every row of a folder of vectors; each location occurs once."""
    found: dict[str, Float32Array] = {}
    for locations, vectors in open_vectors(folder).batches():
        for location, vector in zip(locations, vectors, strict=True):
            assert location not in found
            found[location] = vector
    return found
