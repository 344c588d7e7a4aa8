"""Chroma: MalmoiEmbeddingFunction, which Chroma's collections remember by its name `malmoi`."""

from typing import Any

from malmoi.errors import InvalidArgumentError
from malmoi.extras import required
from malmoi.integrations.text_embedder import ModelLike, TextEmbedder, name_of

with required("chromadb"):
    from chromadb.api.types import Documents, EmbeddingFunction, Embeddings, Space
    from chromadb.utils.embedding_functions import register_embedding_function

CONFIG = ("model", "query_prompt", "document_prompt", "normalize")


@register_embedding_function
class MalmoiEmbeddingFunction(EmbeddingFunction[Documents]):
    """An embedding function of Chroma by a model of malmoi.

    A collection stores the name of the model and the other arguments, and is opened with them
    again in any process that has imported this module.

    Args:
        model: A name that `load_encoder` takes, or an encoder.
        query_prompt: Text before each query, instead of the model's own.
        document_prompt: Text before each document, instead of the model's own.
        normalize: Scale each vector to length one.

    Raises:
        InvalidArgumentError: The model is word vectors in memory, which have no name.
    """

    def __init__(
        self,
        model: ModelLike = "minilm",
        *,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        normalize: bool = False,
    ) -> None:
        self._config = {
            "model": name_of(model),
            "query_prompt": query_prompt,
            "document_prompt": document_prompt,
            "normalize": normalize,
        }
        self._embedder = TextEmbedder(
            model=model,
            query_prompt=query_prompt,
            document_prompt=document_prompt,
            normalize=normalize,
        )

    def __call__(self, input: Documents) -> Embeddings:
        """One vector per document."""
        return list(self._embedder.documents(input))

    def embed_query(self, input: Documents) -> Embeddings:
        """One vector per query."""
        return list(self._embedder.queries(input))

    @staticmethod
    def name() -> str:
        """The name that collections store."""
        return "malmoi"

    def default_space(self) -> Space:
        """Vectors of malmoi are compared by their cosine."""
        return "cosine"

    def supported_spaces(self) -> list[Space]:
        """All that Chroma has."""
        return ["cosine", "l2", "ip"]

    def get_config(self) -> dict[str, Any]:
        """The arguments, as collections store them."""
        return dict(self._config)

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> "MalmoiEmbeddingFunction":
        """The function of stored arguments."""
        MalmoiEmbeddingFunction.validate_config(config)
        return MalmoiEmbeddingFunction(**config)

    @staticmethod
    def validate_config(config: dict[str, Any]) -> None:
        """Raise `InvalidArgumentError` for arguments that are not known."""
        unknown = sorted(config.keys() - {*CONFIG})
        if unknown or "model" not in config:
            raise InvalidArgumentError(
                f"the embedding function of this collection has the settings"
                f" {', '.join(config) or 'none'}: they are {', '.join(CONFIG)}"
            )

    def validate_config_update(
        self, old_config: dict[str, Any], new_config: dict[str, Any]
    ) -> None:
        """Raise `InvalidArgumentError` for another model, whose vectors would not fit."""
        changed = [name for name in CONFIG if old_config.get(name) != new_config.get(name)]
        if changed:
            raise InvalidArgumentError(
                f"{changed[0]} of a collection cannot change from {old_config.get(changed[0])!r}"
                f" to {new_config.get(changed[0])!r}: make a new collection"
            )
