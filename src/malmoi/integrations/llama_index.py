"""LlamaIndex: MalmoiEmbedding, an embedding model for its indexes and ingestion pipelines."""

from asyncio import to_thread
from typing import Any

from malmoi.extras import required
from malmoi.integrations.text_embedder import ModelLike, TextEmbedder, name_of

with required("llama-index-core"):
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import Field, PrivateAttr

BATCH_SIZE = 256  # texts of a call; LlamaIndex's default of 10 leaves cores idle


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
