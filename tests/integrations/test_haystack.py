"""The embedders in Haystack: a real pipeline with a document store, written and read again."""

import numpy as np
import pytest
from haystack import Document, Pipeline
from haystack.components.retrievers import InMemoryEmbeddingRetriever
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore

import malmoi as mm
from malmoi.integrations.haystack import MalmoiDocumentEmbedder, MalmoiTextEmbedder

TEXTS = ["The cat sat on the mat.", "Interest rates rose again.", "A recipe for kimchi stew."]


def test_a_pipeline_of_documents_and_one_of_queries() -> None:
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    indexing = Pipeline()
    indexing.add_component("embedder", MalmoiDocumentEmbedder("minilm"))
    indexing.add_component("writer", DocumentWriter(store))
    indexing.connect("embedder.documents", "writer.documents")
    indexing.run({"embedder": {"documents": [Document(content=text) for text in TEXTS]}})
    assert store.count_documents() == 3

    asking = Pipeline()
    asking.add_component("embedder", MalmoiTextEmbedder("minilm"))
    asking.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=1))
    asking.connect("embedder.embedding", "retriever.query_embedding")
    trusted = ["malmoi.integrations.haystack"]
    again = Pipeline.loads(asking.dumps(), allowed_modules=trusted)  # its store is empty
    assert again.to_dict()["components"]["embedder"] == asking.to_dict()["components"]["embedder"]
    found = asking.run({"embedder": {"text": "What do Koreans cook?"}})
    assert found["retriever"]["documents"][0].content == TEXTS[2]


def test_embeddings_are_those_of_the_encoder_and_documents_stay() -> None:
    encoder = mm.load_encoder("minilm")
    documents = [Document(content=text, meta={"i": i}) for i, text in enumerate(TEXTS)]
    embedded = MalmoiDocumentEmbedder(encoder).run(documents)["documents"]
    np.testing.assert_allclose(
        [document.embedding for document in embedded], encoder.encode(TEXTS), atol=1e-6
    )
    assert [document.id for document in embedded] == [document.id for document in documents]
    assert all(document.embedding is None for document in documents)
    assert MalmoiDocumentEmbedder(encoder).run([])["documents"] == []


def test_fields_and_prefixes_are_embedded() -> None:
    encoder = mm.load_transformer("minilm")
    embedder = MalmoiDocumentEmbedder(
        encoder,
        prefix="passage: ",
        normalize_embeddings=True,
        meta_fields_to_embed=["title", "author"],
        embedding_separator=" | ",
    )
    document = Document(content="It sat.", meta={"title": "Cats", "author": None, "year": 1})
    (embedded,) = embedder.run([document])["documents"]
    expected = encoder.encode(["passage: Cats | It sat."], normalize=True)[0]
    np.testing.assert_allclose(embedded.embedding, expected, atol=1e-6)
    found = MalmoiTextEmbedder(encoder, prefix="query: ").run("cats")["embedding"]
    np.testing.assert_allclose(found, encoder.encode("query: cats"), atol=1e-6)


@pytest.mark.parametrize("kind", [MalmoiTextEmbedder, MalmoiDocumentEmbedder])
def test_written_and_read_again(kind: type[MalmoiTextEmbedder | MalmoiDocumentEmbedder]) -> None:
    embedder = kind(mm.load_encoder("minilm"), prefix="a: ", normalize_embeddings=True)
    data = embedder.to_dict()
    assert data["init_parameters"]["model"] == "minilm"
    again = kind.from_dict(data)
    again.warm_up()
    assert again.to_dict() == data


def test_wrong_values(words: mm.Vectors) -> None:
    with pytest.raises(TypeError, match="MalmoiDocumentEmbedder embeds documents"):
        MalmoiTextEmbedder().run([Document(content="a")])
    with pytest.raises(TypeError, match="MalmoiTextEmbedder embeds strings"):
        MalmoiDocumentEmbedder().run("a")
    with pytest.raises(mm.InvalidFileError):
        MalmoiTextEmbedder("no-such-model").warm_up()
    with pytest.raises(mm.InvalidArgumentError, match="have no name"):
        MalmoiTextEmbedder(words).to_dict()
    with pytest.raises(mm.InvalidArgumentError, match="takes no prompt"):
        MalmoiTextEmbedder(words, prefix="query: ").warm_up()
