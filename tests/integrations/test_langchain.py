"""LangChain's own standard tests, and what they do not ask for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_tests.integration_tests import (
    EmbeddingsIntegrationTests,
    VectorStoreIntegrationTests,
)
from langchain_tests.unit_tests import EmbeddingsUnitTests

import malmoi as mm
from malmoi.integrations.langchain import MalmoiEmbeddings, MalmoiVectorStore


class TestEmbeddings(EmbeddingsUnitTests):
    @property
    def embeddings_class(self) -> type[MalmoiEmbeddings]:
        return MalmoiEmbeddings

    @property
    def embedding_model_params(self) -> dict[str, Any]:
        return {"model": "minilm"}


class TestEmbeddedTexts(EmbeddingsIntegrationTests):
    @property
    def embeddings_class(self) -> type[MalmoiEmbeddings]:
        return MalmoiEmbeddings

    @property
    def embedding_model_params(self) -> dict[str, Any]:
        return {"model": "minilm"}


class TestVectorStoreInMemory(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self) -> MalmoiVectorStore:
        return MalmoiVectorStore(self.get_embeddings())


class TestVectorStoreOnDisk(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path: Path) -> MalmoiVectorStore:
        return MalmoiVectorStore(self.get_embeddings(), path=tmp_path / "index")


class TestVectorStoreInPostgres(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, url: str) -> MalmoiVectorStore:
        return MalmoiVectorStore(self.get_embeddings(), path=url)


def test_a_table_of_a_database_is_opened_again(url: str) -> None:
    fake = DeterministicFakeEmbedding(size=8)
    MalmoiVectorStore.from_texts(["tea", "coffee"], fake, ids=["t", "c"], path=url)
    again = MalmoiVectorStore(fake, path=url)
    assert [document.id for document in again.similarity_search("tea", k=1)] == ["t"]


TEXTS = [
    "The cat sat on the mat.",
    "A kitten rests on a rug.",
    "Interest rates rose again.",
    "The central bank met on Tuesday.",
]
METADATAS = [{"topic": "pets", "year": year} for year in (2019, 2021)] + [
    {"topic": "money", "year": year} for year in (2022, 2024)
]


@pytest.fixture(scope="module")
def embeddings() -> MalmoiEmbeddings:
    return MalmoiEmbeddings("minilm")


@pytest.fixture
def store(embeddings: MalmoiEmbeddings) -> MalmoiVectorStore:
    return MalmoiVectorStore.from_texts(TEXTS, embeddings, METADATAS, ids=["a", "b", "c", "d"])


def ids(documents: list[Document]) -> list[str | None]:
    return [document.id for document in documents]


def test_embeddings_are_those_of_the_encoder(embeddings: MalmoiEmbeddings) -> None:
    expected = mm.load_encoder("minilm").encode(TEXTS)
    np.testing.assert_allclose(embeddings.embed_documents(TEXTS), expected, atol=1e-6)
    assert embeddings.embed_documents([]) == []


def test_prompts_before_queries_and_documents(embeddings: MalmoiEmbeddings) -> None:
    prompted = MalmoiEmbeddings("minilm", query_prompt="query: ", document_prompt="passage: ")
    expected = embeddings.embed_query("query: cats")
    np.testing.assert_allclose(prompted.embed_query("cats"), expected, atol=1e-6)
    (document,) = prompted.embed_documents(["cats"])
    (written_out,) = embeddings.embed_documents(["passage: cats"])
    np.testing.assert_allclose(document, written_out, atol=1e-6)
    store = MalmoiVectorStore.from_texts(["cats"], prompted)
    assert store.index.state.prompts == mm.Prompts(document="passage: ", query="query: ")
    opened = MalmoiVectorStore(index=store.index)
    np.testing.assert_allclose(opened.embeddings.embed_query("cats"), expected, atol=1e-6)
    assert opened.max_marginal_relevance_search("cats") == opened.similarity_search("cats")


def test_word_vectors_embed_and_a_missing_model_fails_at_once(words: mm.Vectors) -> None:
    embeddings = MalmoiEmbeddings(words, normalize=True)
    assert np.linalg.norm(embeddings.embed_query("king queen")) == pytest.approx(1)
    with pytest.raises(mm.InvalidFileError):
        MalmoiEmbeddings("no-such-model")


def test_filters_scores_and_vectors(store: MalmoiVectorStore, embeddings: MalmoiEmbeddings) -> None:
    assert ids(store.similarity_search("a kitten", k=2)) == ["b", "a"]
    assert ids(store.similarity_search("a cat", filter={"topic": "money"}, k=4)) == ["c", "d"]
    assert ids(store.similarity_search("a cat", filter="year>=2023", k=4)) == ["d"]
    scored = store.similarity_search_with_score("interest", k=4)
    assert [score for _, score in scored] == sorted((s for _, s in scored), reverse=True)
    vector = embeddings.embed_query("interest")
    assert ids(store.similarity_search_by_vector(vector)) == [doc.id for doc, _ in scored]


def test_search_by_words_and_by_both(store: MalmoiVectorStore) -> None:
    assert ids(store.similarity_search("Tuesday", lexical=True)) == ["d"]
    assert ids(store.similarity_search("Tuesday", hybrid=True, k=1)) == ["d"]
    with pytest.raises(mm.InvalidArgumentError, match="between 0 and 1"):
        store.similarity_search_with_relevance_scores("Tuesday", lexical=True)


def test_relevance_scores_are_between_zero_and_one(store: MalmoiVectorStore) -> None:
    found = store.similarity_search_with_relevance_scores("volcano", k=4)
    assert len(found) == 4
    assert all(0 <= score <= 1 for _, score in found)


def test_marginal_relevance_prefers_what_is_different() -> None:
    store = MalmoiVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_texts(["one", "one", "two"], ids=["1", "1 again", "2"])
    assert ids(store.similarity_search("one", k=2)) == ["1", "1 again"]
    diverse = store.max_marginal_relevance_search("one", k=2, lambda_mult=0.3)
    assert ids(diverse) == ["1", "2"]
    vector = store.embeddings.embed_query("one")
    by_vector = store.max_marginal_relevance_search_by_vector(vector, k=2, lambda_mult=0.3)
    assert by_vector == diverse
    assert MalmoiVectorStore(store.embeddings).max_marginal_relevance_search("one") == []


@pytest.mark.parametrize("search_type", ["similarity", "mmr", "similarity_score_threshold"])
async def test_retriever(store: MalmoiVectorStore, search_type: str) -> None:
    settings = {"k": 1, "score_threshold": 0.1, "filter": {"topic": "money"}}
    if search_type != "similarity_score_threshold":
        del settings["score_threshold"]
    retriever = store.as_retriever(search_type=search_type, search_kwargs=settings)
    assert ids(retriever.invoke("a bank")) == ["d"]
    assert ids(await retriever.ainvoke("a bank")) == ["d"]


def test_delete_without_ids_deletes_all(store: MalmoiVectorStore) -> None:
    assert store.delete()
    assert len(store.index) == 0
    assert store.similarity_search("cat") == []


def test_a_store_on_disk_is_that_of_the_command(tmp_path: Path, embeddings: Any) -> None:
    MalmoiVectorStore.from_texts(["Seoul is in Korea."], embeddings, ids=["k"], path=tmp_path / "i")
    assert mm.open_index(tmp_path / "i")["k"].text == "Seoul is in Korea."
    again = MalmoiVectorStore(path=tmp_path / "i")
    again.add_texts(["Paris is in France."], [{"lang": "en"}], ids=["p"])
    assert ids(again.similarity_search("France", k=1)) == ["p"]
    assert isinstance(again.embeddings, MalmoiEmbeddings)
    assert ids(MalmoiVectorStore(index=mm.open_index(tmp_path / "i")).get_by_ids(["p"])) == ["p"]


def test_other_embeddings_than_those_of_the_folder_are_refused(tmp_path: Path) -> None:
    MalmoiVectorStore.from_texts(["one"], DeterministicFakeEmbedding(size=6), path=tmp_path / "i")
    MalmoiVectorStore(DeterministicFakeEmbedding(size=6), path=tmp_path / "i")
    with pytest.raises(mm.InvalidArgumentError, match="not the model of this index"):
        MalmoiVectorStore(MalmoiEmbeddings("minilm"), path=tmp_path / "i")


def test_what_a_store_needs() -> None:
    with pytest.raises(mm.InvalidArgumentError, match="needs embeddings"):
        MalmoiVectorStore()
    store = MalmoiVectorStore(DeterministicFakeEmbedding(size=6))
    with pytest.raises(mm.InvalidArgumentError, match="leave one of them out"):
        MalmoiVectorStore(index=store.index, path="index")
    with pytest.raises(mm.InvalidArgumentError, match="1 fields for 2 texts"):
        store.add_texts(["a", "b"], [{}])
