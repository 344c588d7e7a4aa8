"""LangChain: MalmoiEmbeddings, and MalmoiVectorStore over an index in memory or on disk."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.pipeline.encode_call import StreamEncoder
from malmoi.encode.pipeline.prompts import Prompts
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError
from malmoi.extras import required
from malmoi.integrations.text_embedder import ModelLike, TextEmbedder
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.search.build import build_index, index_exists, open_index
from malmoi.search.index import Index
from malmoi.search.querying.filters import Where
from malmoi.search.querying.hits import Hits
from malmoi.text_inputs import TextLike, strings

with required("langchain-core"):
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import VectorStore
    from langchain_core.vectorstores.utils import maximal_marginal_relevance


class MalmoiEmbeddings(Embeddings):
    """Embeddings of LangChain by a model of malmoi.

    Args:
        model: A name that `load_encoder` takes, an encoder, or word vectors.
        query_prompt: Text before each query, instead of the model's own.
        document_prompt: Text before each document, instead of the model's own.
        normalize: Scale each vector to length one.

    Raises:
        InvalidFileError: There is no such model.
    """

    def __init__(
        self,
        model: ModelLike = "minilm",
        *,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        normalize: bool = False,
    ) -> None:
        self.embedder = TextEmbedder(
            model=model,
            query_prompt=query_prompt,
            document_prompt=document_prompt,
            normalize=normalize,
        )
        _ = self.embedder.query_encoder  # a wrong name or prompt fails here, not in a chain

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector per document."""
        vectors: list[list[float]] = self.embedder.documents(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """The vector of a query."""
        vector: list[float] = self.embedder.queries([text])[0].tolist()
        return vector


class MalmoiVectorStore(VectorStore):
    """A vector store over an index: by meaning, by words, or by both, with filters.

    Texts are stored in Unicode's NFC; metadata are JSON. A text whose id exists already replaces
    it. Searches take `filter` (`{"lang": "ko"}` or `"year>=2020"`) and what `Index.search` takes:
    `hybrid`, `lexical`, `weight`, `exact`, `rerank`.

    Args:
        embedding: Any embeddings of LangChain; not needed for an index that names its model.
        path: The folder or postgresql:// URL of an index, which is opened, or created. Without
            it, the index is in memory.
        index: An index that is open already, instead of a path.

    Raises:
        InvalidArgumentError: The arguments do not fit each other, or the embeddings are not those
            of the index.
        InvalidFileError: The folder cannot be read or written.
    """

    def __init__(
        self,
        embedding: Embeddings | None = None,
        *,
        path: str | Path | None = None,
        index: Index | None = None,
    ) -> None:
        self._embedding = embedding
        if index is not None:
            if path is not None:
                raise InvalidArgumentError("path and index are given: leave one of them out")
            self.index = index
            return
        if path is not None and index_exists(path):
            self.index = open_index(path, None if embedding is None else _encoder(embedding))
            return
        if embedding is None:
            raise InvalidArgumentError("a new vector store needs embeddings: pass embedding=…")
        self.index = build_index(_encoder(embedding), path=path, prompts=_prompts(embedding))

    @property
    def embeddings(self) -> Embeddings:
        """The embeddings of texts and queries."""
        if self._embedding is None:
            prompts = self.index.state.prompts or Prompts()
            self._embedding = MalmoiEmbeddings(
                self.index.encoder, query_prompt=prompts.query, document_prompt=prompts.document
            )
        return self._embedding

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> Self:
        """A store with these texts; `path` is passed on."""
        store = cls(embedding, **kwargs)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Add texts; those without an id get a new one. Returns the ids."""
        every = list(texts)
        names = [each or str(uuid4()) for each in ids or [None] * len(every)]
        self.index.add(every, ids=names, fields=metadatas, **kwargs)
        return names

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """Delete documents by id; all of them without ids. Ids that do not exist are ignored."""
        self.index.delete(list(self.index) if ids is None else ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents of these ids, without those that do not exist."""
        entries = [self.index[id] for id in ids if id in self.index]
        return [_document(entry.id, entry.text, entry.fields) for entry in entries]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """The k documents nearest to a query."""
        return _documents(self._hits(query, k, **kwargs))

    def similarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The same with scores, of which higher ones are better: cosines, or as `Hit.score`."""
        hits = self._hits(query, k, **kwargs)
        return [(doc, hit.score) for doc, hit in zip(_documents(hits), hits, strict=True)]

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, **kwargs: Any
    ) -> list[Document]:
        """The k documents nearest to a vector."""
        return _documents(self._hits(_array(embedding), k, **kwargs))

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """k of the `fetch_k` nearest documents, near the query and far from each other."""
        vector = self.embeddings.embed_query(query)
        hits = self._hits(query, fetch_k, **kwargs)
        return self._diverse(vector, hits, k, lambda_mult)

    def max_marginal_relevance_search_by_vector(
        self,
        embedding: list[float],
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        **kwargs: Any,
    ) -> list[Document]:
        """The same for a vector."""
        hits = self._hits(_array(embedding), fetch_k, **kwargs)
        return self._diverse(embedding, hits, k, lambda_mult)

    def _diverse(
        self, vector: list[float], hits: Hits, k: int, lambda_mult: float
    ) -> list[Document]:
        """Choose among hits, whose passages are embedded again: an index has no way to read few
        vectors, and all of them may not fit into memory.
        """
        rows = self.embeddings.embed_documents([hit.passage for hit in hits])
        chosen = maximal_marginal_relevance(_array(vector), rows, lambda_mult, k)
        return [_documents(hits)[i] for i in chosen]

    def _hits(
        self,
        query: str | Float32Array,
        k: int,
        filter: Where | None = None,
        **kwargs: Any,
    ) -> Hits:
        """Search; embeddings that are not malmoi's may embed queries in another way than texts."""
        is_foreign = not isinstance(self._embedding, MalmoiEmbeddings | None)
        if is_foreign and isinstance(query, str) and not kwargs.get("lexical"):
            kwargs["vector"] = _array(self.embeddings.embed_query(query))
        return self.index.search(query, k, where=filter, **kwargs)

    def _similarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        if kwargs.get("lexical") or kwargs.get("rerank"):
            raise InvalidArgumentError(
                "relevance scores are between 0 and 1, and scores of words or of a reranker are"
                " not: call similarity_search_with_score"
            )
        scored: list[tuple[Document, float]] = super()._similarity_search_with_relevance_scores(
            query, k, **kwargs
        )
        return scored

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        """The cosine, which is 0 for what has nothing in common; below 0 is 0 too."""
        return lambda score: min(max(score, 0.0), 1.0)


class EmbeddingsEncoder(StreamEncoder):
    """Embeddings of LangChain as an encoder of an index."""

    def __init__(self, embedding: Embeddings) -> None:
        self.embedding, self.name = embedding, type(embedding).__name__
        self._dim = len(embedding.embed_query("dimension"))

    @property
    def dim(self) -> int:
        """The dimension of a text's vector."""
        return self._dim

    def stream(
        self, texts: Iterable[TextLike], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Iterator[Float32Array]:
        """All vectors in one chunk: the embeddings make batches themselves."""
        yield _array(self.embedding.embed_documents(list(strings(texts))))


def _encoder(embedding: Embeddings) -> Encoder:
    if isinstance(embedding, MalmoiEmbeddings):
        return embedding.embedder.encoder
    return EmbeddingsEncoder(embedding)


def _prompts(embedding: Embeddings) -> Prompts:
    return embedding.embedder.prompts if isinstance(embedding, MalmoiEmbeddings) else Prompts()


def _array(numbers: object) -> Float32Array:
    return np.asarray(numbers, np.float32)


def _documents(hits: Hits) -> list[Document]:
    return [_document(hit.id, hit.text, hit.fields) for hit in hits]


def _document(id: str, text: str, fields: Any) -> Document:
    return Document(id=id, page_content=text, metadata=dict(fields))
