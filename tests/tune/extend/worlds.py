"""A tiny English model, and an encoder that knows which Korean words are translations."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from malmoi.arrays import Float32Array
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from tests.tune.worlds import tiny_model

MEANINGS = {"은행": "bank", "강": "river", "물고기": "fish", "강도": "rob"}
DIM = 64


class Bilingual:
    """One random direction per meaning, with a little noise per text; all else is unreadable."""

    name = "bilingual"
    dim = DIM
    unreadable = frozenset[str]()

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
        own = _random(text) if text not in self.unreadable else _random("?")
        return (language + 3 * _random(MEANINGS.get(text, text)) + own).astype(np.float32)


def _random(text: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.random.default_rng(list(text.encode())).normal(size=DIM)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A tiny BERT; `through` names the bilingual encoder whatever it is."""
    monkeypatch.setattr("malmoi.tune.extend.extension.load_encoder", lambda name: Bilingual())
    return tiny_model(tmp_path / "english")
