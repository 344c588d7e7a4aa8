"""Encoders that are opened once."""

import pytest

from malmoi.encode.encoder import ContextualEncoder, load_contextual


@pytest.fixture(scope="package")
def minilm() -> ContextualEncoder:
    return load_contextual("minilm")
