"""Encoders that are opened once."""

import pytest

from malmoi.encode.encoder import TransformerEncoder, load_transformer


@pytest.fixture(scope="package")
def minilm() -> TransformerEncoder:
    return load_transformer("minilm")
