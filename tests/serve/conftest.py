"""Models that are opened once, and a server for them."""

from collections.abc import Iterator

import pytest

from malmoi.encode.encoder import TransformerEncoder
from malmoi.serve.service.loaded_models import LoadedModel, Models, load_model
from tests.query.worlds import capitals
from tests.serve.fixtures import Running, serving


@pytest.fixture(scope="package")
def models() -> Models:
    words = LoadedModel("capitals", "capitals.malmoi", vectors=capitals())
    return Models({"minilm": load_model("minilm", "minilm"), "capitals": words})


@pytest.fixture(scope="package")
def minilm(models: Models) -> TransformerEncoder:
    encoder = models.get("minilm").encoder
    assert isinstance(encoder, TransformerEncoder)
    return encoder


@pytest.fixture(scope="package")
def server(models: Models) -> Iterator[Running]:
    with serving(models) as running:
        yield running
