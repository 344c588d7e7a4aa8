"""An encoder that knows which Korean words are translations of which English ones."""

from collections.abc import Iterable, Iterator

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.tune.extend.new_tokens import common_syllables

MEANINGS = {"은행": "bank", "강": "river", "물고기": "fish", "강도": "rob"}
DIM = 64
SYLLABLES, UNREADABLE = frozenset(common_syllables()) - set(MEANINGS), "?"


class Bilingual:
    """One random direction per meaning, and a little of its own per text.

    It cannot read most single syllables, which have the same vector.
    """

    name = "bilingual"
    dim = DIM

    def encode(
        self, texts: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Float32Array:
        return np.stack([self._vector(text) for text in texts])

    def stream(
        self, texts: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Iterator[Float32Array]:
        yield self.encode(texts)

    def _vector(self, text: str) -> Float32Array:
        language = np.ones(DIM) if text.isascii() else -np.ones(DIM)
        meaning = UNREADABLE if text in SYLLABLES else MEANINGS.get(text, text)
        own = _random(text) if meaning != UNREADABLE else 0.0
        return (language + 3 * _random(meaning) + own).astype(np.float32)


def _random(text: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.random.default_rng(list(text.encode())).normal(size=DIM)
