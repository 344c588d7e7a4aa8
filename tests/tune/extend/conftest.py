"""A tiny English model whose `through` is an encoder that knows translations."""

from pathlib import Path

import pytest

from tests.tune.extend.worlds import Bilingual
from tests.tune.worlds import tiny_model


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A tiny BERT; whatever `through` names is the bilingual encoder."""
    monkeypatch.setattr("malmoi.tune.extend.extension.load_encoder", lambda name: Bilingual())
    return tiny_model(tmp_path / "english")
