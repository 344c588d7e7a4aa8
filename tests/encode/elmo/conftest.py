"""A small ELMo folder with random weights, and its encoder."""

from pathlib import Path

import pytest

from malmoi.encode.elmo.encoder import ElmoEncoder, load_elmo
from tests.encode.elmo.folders import save_elmo


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elmo")
    save_elmo(folder)
    return folder


@pytest.fixture
def elmo(folder: Path) -> ElmoEncoder:
    return load_elmo(str(folder))
