"""An encoder that needs no model, texts to search, and slow twins of what an index does."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.search.storage.manifest import with_checksum

TEXTS = [
    "The bank raised its interest rate by 0.25 percent in 2019.",
    "A man plays the guitar by the river bank.",
    "Dr. Kim of Seoul National University won 1,000 dollars.",
    "서울은 한국의 수도이다.",
    "나는 2019년에 서울에서 기타를 쳤다.",
    "Interest in the iPhone을 구매한 사람들.",
    "Rivers flow to the sea.",
    "Prices fell sharply in May.",
]
FIELDS: list[dict[str, Any]] = [
    {"lang": "en", "year": 2019, "topic": "money"},
    {"lang": "en", "year": 2001},
    {"lang": "en", "year": 2020.0, "topic": "people"},
    {"lang": "ko", "year": "2018"},
    {"lang": "ko", "year": 2019, "draft": True},
    {"lang": "mixed"},
    {"lang": "en", "date": "2020-05-01"},
    {"lang": "en", "date": "2021-12-24", "topic": "money"},
]


@dataclass(frozen=True)
class BagOfWords:
    """A text's vector is the sum of made-up vectors of its words; it notes what it was given."""

    name: str = "bag"
    dim: int = 16
    seen: tuple[list[str], ...] = ()

    def encode(
        self, texts: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Float32Array:
        asked = list(texts)
        for seen in self.seen:
            seen.extend(asked)
        rows = [sum(map(self.word, text.lower().split()), np.zeros(self.dim)) for text in asked]
        reporter.stage("encoding", "texts")(len(asked), len(asked))
        return np.array(rows, np.float32).reshape(-1, self.dim)

    def stream(
        self, texts: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Iterator[Float32Array]:
        for text in texts:
            yield self.encode([text])

    def word(self, word: str) -> Float32Array:
        seed = int.from_bytes(blake2b(f"{self.name} {word}".encode(), digest_size=8).digest())
        drawn: Float32Array = np.random.default_rng(seed).normal(size=self.dim).astype(np.float32)
        return drawn


def naive_nearest(
    matrix: Float32Array, direction: Float32Array, k: int, rows: Iterable[int]
) -> list[int]:
    """The rows with the highest cosine, by sorting all of them."""
    cosines = {
        row: float(matrix[row] @ direction)
        / max(1e-20, float(np.linalg.norm(matrix[row]) * np.linalg.norm(direction)))
        for row in rows
    }
    return sorted(cosines, key=lambda row: -cosines[row])[:k]


def naive_bm25(texts: Sequence[Sequence[str]], query: Sequence[str]) -> list[float]:
    """BM25 as the textbook has it, with Lucene's weight of a word."""
    mean = sum(map(len, texts)) / len(texts)
    scores = []
    for words in texts:
        counts, score = Counter(words), 0.0
        for word in query:
            having = sum(word in other for other in texts)
            weight = log(1 + (len(texts) - having + 0.5) / (having + 0.5))
            slack = 1.2 * (1 - 0.75 + 0.75 * len(words) / mean)
            score += weight * counts[word] / (counts[word] + slack)
        scores.append(score)
    return scores


def edit_manifest(folder: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest of an index, with the checksum of the change."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest.pop("crc32", None)
    edit(manifest)
    path.write_text(json.dumps(with_checksum(manifest)), encoding="utf-8")
