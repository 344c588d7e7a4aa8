"""MalmoiEmbedding in LlamaIndex: a real index without a language model, and serialization."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from llama_index.core import Document, StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode

import malmoi as mm
from malmoi.integrations.llama_index import MalmoiEmbedding, MalmoiRerank
from tests.rerank.worlds import DOCUMENTS, QUERY, save_cross_encoder

TEXTS = ["The cat sat on the mat.", "Interest rates rose again.", "A recipe for kimchi stew."]


@pytest.fixture(scope="module")
def embedding() -> MalmoiEmbedding:
    return MalmoiEmbedding("minilm")


def test_embeddings_are_those_of_the_encoder(embedding: MalmoiEmbedding) -> None:
    expected = mm.load_encoder("minilm").encode(TEXTS)
    found = embedding.get_text_embedding_batch(TEXTS)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(embedding.get_text_embedding(TEXTS[0]), expected[0], atol=1e-6)
    np.testing.assert_allclose(embedding.get_query_embedding(TEXTS[1]), expected[1], atol=1e-6)
    similarity = embedding.similarity(found[0], found[0])
    assert similarity == pytest.approx(1)


async def test_embeddings_of_coroutines(embedding: MalmoiEmbedding) -> None:
    expected = embedding.get_text_embedding_batch(TEXTS)
    found = await embedding.aget_text_embedding_batch(TEXTS)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(
        await embedding.aget_text_embedding(TEXTS[0]), expected[0], atol=1e-6
    )
    np.testing.assert_allclose(
        await embedding.aget_query_embedding(TEXTS[0]), expected[0], atol=1e-6
    )


def test_prompts(embedding: MalmoiEmbedding) -> None:
    prompted = MalmoiEmbedding("minilm", query_prompt="query: ", document_prompt="passage: ")
    np.testing.assert_allclose(
        prompted.get_query_embedding("cats"), embedding.get_text_embedding("query: cats"), atol=1e-6
    )
    np.testing.assert_allclose(
        prompted.get_text_embedding("cats"),
        embedding.get_text_embedding("passage: cats"),
        atol=1e-6,
    )


def test_written_and_read_again() -> None:
    embedding = MalmoiEmbedding(mm.load_encoder("minilm"), query_prompt="q: ", normalize=True)
    expected = embedding.get_query_embedding("cats")
    for again in (
        MalmoiEmbedding.from_dict(embedding.to_dict()),
        MalmoiEmbedding.from_json(embedding.to_json()),
        pickle.loads(pickle.dumps(embedding)),
    ):
        assert isinstance(again, BaseEmbedding)
        assert again.model_name == "minilm"
        np.testing.assert_allclose(again.get_query_embedding("cats"), expected, atol=1e-6)


def test_an_index_without_a_language_model(tmp_path: Path, embedding: MalmoiEmbedding) -> None:
    documents = [Document(text=text, metadata={"i": i}) for i, text in enumerate(TEXTS)]
    index = VectorStoreIndex.from_documents(documents, embed_model=embedding)
    index.storage_context.persist(str(tmp_path))
    storage = StorageContext.from_defaults(persist_dir=str(tmp_path))
    for each in (index, load_index_from_storage(storage, embed_model=embedding)):
        (node,) = each.as_retriever(similarity_top_k=1).retrieve("What do Koreans cook?")
        assert node.node.get_content(MetadataMode.NONE) == TEXTS[2]


def test_an_ingestion_pipeline(embedding: MalmoiEmbedding) -> None:
    splitter = SentenceSplitter(chunk_size=64, chunk_overlap=0)
    pipeline = IngestionPipeline(transformations=[splitter, embedding])
    nodes = pipeline.run(documents=[Document(text=text) for text in TEXTS])
    assert [len(node.embedding or []) for node in nodes] == [384] * 3


def test_wrong_models(words: mm.Vectors) -> None:
    with pytest.raises(mm.InvalidFileError):
        MalmoiEmbedding("no-such-model")
    with pytest.raises(mm.InvalidArgumentError, match="have no name"):
        MalmoiEmbedding(words)


@pytest.mark.filterwarnings("ignore::malmoi.MalmoiWarning")  # one document is empty
def test_nodes_are_ordered_by_the_reranker(tmp_path: Path) -> None:
    save_cross_encoder(tmp_path / "model")
    expected = mm.load_reranker(str(tmp_path / "model")).rank(QUERY, DOCUMENTS, 3)
    nodes = [NodeWithScore(node=TextNode(text=text), score=0.5) for text in DOCUMENTS]
    rerank = MalmoiRerank(str(tmp_path / "model"), top_n=3)
    for each in (rerank, MalmoiRerank.from_dict(rerank.to_dict())):
        ranked = each.postprocess_nodes(nodes, query_str=QUERY)
        assert [node.node.get_content() for node in ranked] == [one.text for one in expected]
        assert [node.score for node in ranked] == pytest.approx([one.score for one in expected])
    with pytest.raises(mm.InvalidArgumentError, match="needs the query"):
        rerank.postprocess_nodes(nodes)
