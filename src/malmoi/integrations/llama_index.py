"""LlamaIndex: MalmoiEmbedding for indexes and pipelines, MalmoiRerank for what they retrieve."""

from asyncio import to_thread
from typing import Any

from malmoi.errors import InvalidArgumentError
from malmoi.extras import required
from malmoi.integrations.text_embedder import ModelLike, TextEmbedder, name_of
from malmoi.rerank.reranker import Reranker, load_reranker

with required("llama-index-core"):
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

BATCH_SIZE = 256  # texts of a call; LlamaIndex's default of 10 leaves cores idle
TOP_NODES = 5  # that a reranker keeps


class MalmoiEmbedding(BaseEmbedding):
    """Embeddings of LlamaIndex by a model of malmoi.

    Args:
        model_name: A name that `load_encoder` takes, or an encoder. `to_dict` and `to_json` write
            the name.
        query_prompt: Text before each query, instead of the model's own.
        document_prompt: Text before each document, instead of the model's own.
        normalize: Scale each vector to length one.
        embed_batch_size: How many texts are embedded in one call.
        **options: What all embeddings of LlamaIndex take.

    Raises:
        InvalidFileError: There is no such model.
        InvalidArgumentError: The model is word vectors in memory, which have no name.
    """

    query_prompt: str | None = Field(default=None, description="Text before each query.")
    document_prompt: str | None = Field(default=None, description="Text before each document.")
    normalize: bool = Field(default=False, description="Scale each vector to length one.")
    _embedder: TextEmbedder = PrivateAttr()

    def __init__(
        self,
        model_name: ModelLike = "minilm",
        *,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        normalize: bool = False,
        embed_batch_size: int = BATCH_SIZE,
        **options: Any,
    ) -> None:
        super().__init__(
            model_name=name_of(model_name),
            query_prompt=query_prompt,
            document_prompt=document_prompt,
            normalize=normalize,
            embed_batch_size=embed_batch_size,
            **options,
        )
        self._embedder = TextEmbedder(
            model=model_name,
            query_prompt=query_prompt,
            document_prompt=document_prompt,
            normalize=normalize,
        )
        _ = self._embedder.query_encoder  # a wrong name or prompt fails here

    @classmethod
    def class_name(cls) -> str:
        """The name in serialized components."""
        return "MalmoiEmbedding"

    def _get_query_embedding(self, query: str) -> list[float]:
        vector: list[float] = self._embedder.queries([query])[0].tolist()
        return vector

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._embedder.documents(texts).tolist()
        return vectors

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await to_thread(self._get_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await to_thread(self._get_text_embedding, text)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await to_thread(self._get_text_embeddings, texts)


class MalmoiRerank(BaseNodePostprocessor):
    """Orders the nodes that a retriever returns again, by a reranker of malmoi.

    Args:
        model_name: A folder or a name that `load_reranker` takes, or a reranker.
        top_n: How many nodes to keep.
        **options: What all postprocessors of LlamaIndex take.

    Raises:
        InvalidFileError: There is no such model, or it is not a cross-encoder.
    """

    model_name: str = Field(description="The name of the cross-encoder.")
    top_n: int = Field(default=TOP_NODES, ge=1, description="How many nodes to keep.")
    _reranker: Reranker = PrivateAttr()

    def __init__(
        self, model_name: str | Reranker, *, top_n: int = TOP_NODES, **options: Any
    ) -> None:
        reranker = load_reranker(model_name) if isinstance(model_name, str) else model_name
        super().__init__(model_name=reranker.name, top_n=top_n, **options)
        self._reranker = reranker

    @classmethod
    def class_name(cls) -> str:
        """The name in serialized components."""
        return "MalmoiRerank"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise InvalidArgumentError("a reranker needs the query: pass query_str")
        texts = [node.node.get_content(MetadataMode.EMBED) for node in nodes]
        ranked = self._reranker.rank(query_bundle.query_str, texts, self.top_n)
        return [NodeWithScore(node=nodes[one.index].node, score=one.score) for one in ranked]
