"""The embedding function in Chroma: collections in memory and on disk, without telemetry."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import chromadb
import numpy as np
import pytest
from chromadb.api.types import EmbeddingFunction
from chromadb.config import Settings
from chromadb.utils.embedding_functions import known_embedding_functions

import malmoi as mm
from malmoi.integrations.chroma import MalmoiEmbeddingFunction

TEXTS = ["The cat sat on the mat.", "Interest rates rose again.", "A recipe for kimchi stew."]


def silent() -> Settings:
    """New ones for each client, which changes them."""
    return Settings(anonymized_telemetry=False)


@pytest.fixture
def collection() -> Iterator[Any]:
    client = chromadb.EphemeralClient(silent())
    name = f"texts-{uuid4()}"  # clients in memory share their collections
    yield client.create_collection(name, embedding_function=MalmoiEmbeddingFunction("minilm"))
    client.delete_collection(name)


def test_a_collection_in_memory(collection: Any) -> None:
    collection.add(ids=["a", "b", "c"], documents=TEXTS, metadatas=[{"i": i} for i in range(3)])
    found = collection.query(query_texts=["What do Koreans cook?", "a cat"], n_results=1)
    assert found["ids"] == [["c"], ["a"]]
    found = collection.query(query_texts=["What do Koreans cook?"], where={"i": {"$lt": 2}})
    assert "c" not in found["ids"][0]
    assert collection.configuration["hnsw"]["space"] == "cosine"
    stored = collection.get(["a"], include=["embeddings"])["embeddings"]
    np.testing.assert_allclose(stored, mm.load_encoder("minilm").encode(TEXTS[:1]), atol=1e-6)


def test_a_collection_on_disk_remembers_its_model(tmp_path: Path) -> None:
    client = chromadb.PersistentClient(tmp_path, silent())
    function = MalmoiEmbeddingFunction(
        "minilm", query_prompt="query: ", document_prompt="passage: ", normalize=True
    )
    client.create_collection("texts", embedding_function=function).add(ids=["a"], documents=["cat"])
    collection = chromadb.PersistentClient(tmp_path, silent()).get_collection("texts")
    (stored,) = collection.get(["a"], include=["embeddings"])["embeddings"]
    expected = mm.load_transformer("minilm").encode("passage: cat", normalize=True)
    np.testing.assert_allclose(stored, expected, atol=1e-6)
    found = collection.query(query_texts=["passage: cat"], include=["distances"])
    query = mm.load_transformer("minilm").encode("query: passage: cat", normalize=True)
    assert found["distances"][0][0] == pytest.approx(1 - float(query @ expected), abs=1e-4)


def test_the_protocol_of_chroma() -> None:
    function = MalmoiEmbeddingFunction("minilm", query_prompt="query: ")
    assert known_embedding_functions["malmoi"] is MalmoiEmbeddingFunction
    assert isinstance(function, EmbeddingFunction)
    assert not function.is_legacy()
    again = MalmoiEmbeddingFunction.build_from_config(function.get_config())
    assert again.get_config() == function.get_config()
    rows = again(["a cat", "한국"][:1])
    assert isinstance(rows[0], np.ndarray)
    assert rows[0].dtype == np.float32
    np.testing.assert_allclose(again.embed_query(["cats"]), again(["query: cats"]), atol=1e-6)


def test_wrong_settings(words: mm.Vectors) -> None:
    with pytest.raises(mm.InvalidArgumentError, match="have no name"):
        MalmoiEmbeddingFunction(words)
    with pytest.raises(mm.InvalidArgumentError, match="model, query_prompt"):
        MalmoiEmbeddingFunction.build_from_config({"model": "minilm", "device": "cuda"})
    function = MalmoiEmbeddingFunction("minilm")
    with pytest.raises(mm.InvalidArgumentError, match="make a new collection"):
        function.validate_config_update(function.get_config(), {"model": "use"})
    with pytest.raises(mm.InvalidFileError):
        MalmoiEmbeddingFunction("no-such-model")(["a"])
