"""Haystack: MalmoiTextEmbedder for queries and MalmoiDocumentEmbedder for documents."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

from malmoi.arguments import described
from malmoi.extras import required
from malmoi.integrations.text_embedder import ModelLike, TextEmbedder, name_of

with required("haystack-ai"):
    from haystack import Document, component, default_from_dict, default_to_dict


@component
class MalmoiTextEmbedder:
    """A component that embeds a query.

    Args:
        model: A name that `load_encoder` takes, an encoder, or word vectors. A pipeline that is
            written to YAML holds the name.
        prefix: Text before each query, instead of the model's own prompt.
        normalize_embeddings: Scale each vector to length one.
    """

    def __init__(
        self,
        model: ModelLike = "minilm",
        *,
        prefix: str | None = None,
        normalize_embeddings: bool = False,
    ) -> None:
        self.model, self.prefix, self.normalize_embeddings = model, prefix, normalize_embeddings
        self._embedder = TextEmbedder(
            model=model, query_prompt=prefix, normalize=normalize_embeddings
        )

    def warm_up(self) -> None:
        """Load the model; `run` loads it too."""
        _ = self._embedder.query_encoder

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, list[float]]:
        """Embed a query.

        Args:
            text: The query.

        Returns:
            `embedding`, the vector of the query.

        Raises:
            TypeError: The query is not a text.
        """
        if not isinstance(text, str):
            raise TypeError(
                f"text must be a string, not {described(text)}: MalmoiDocumentEmbedder embeds"
                " documents"
            )
        return {"embedding": self._embedder.queries([text])[0].tolist()}

    def to_dict(self) -> dict[str, Any]:
        """The component as a dictionary."""
        data: dict[str, Any] = default_to_dict(
            self,
            model=name_of(self.model),
            prefix=self.prefix,
            normalize_embeddings=self.normalize_embeddings,
        )
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The component of a dictionary."""
        made: Self = default_from_dict(cls, data)
        return made


@component
class MalmoiDocumentEmbedder:
    """A component that embeds documents.

    Args:
        model: As for `MalmoiTextEmbedder`.
        prefix: Text before each document, instead of the model's own prompt.
        normalize_embeddings: Scale each vector to length one.
        meta_fields_to_embed: Fields of a document's `meta` that are embedded with its text.
        embedding_separator: What stands between these fields and the text.
    """

    def __init__(
        self,
        model: ModelLike = "minilm",
        *,
        prefix: str | None = None,
        normalize_embeddings: bool = False,
        meta_fields_to_embed: Sequence[str] = (),
        embedding_separator: str = "\n",
    ) -> None:
        self.model, self.prefix, self.normalize_embeddings = model, prefix, normalize_embeddings
        self.meta_fields_to_embed = list(meta_fields_to_embed)
        self.embedding_separator = embedding_separator
        self._embedder = TextEmbedder(
            model=model, document_prompt=prefix, normalize=normalize_embeddings
        )

    def warm_up(self) -> None:
        """Load the model; `run` loads it too."""
        _ = self._embedder.document_encoder

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Embed documents.

        Args:
            documents: The documents, which stay as they are.

        Returns:
            `documents`, the same with their embeddings.

        Raises:
            TypeError: The value is not a list of documents.
        """
        if not isinstance(documents, list) or not all(
            isinstance(document, Document) for document in documents
        ):
            raise TypeError(
                f"documents must be a list of Documents, not {described(documents)}:"
                " MalmoiTextEmbedder embeds strings"
            )
        rows = self._embedder.documents(map(self._text, documents)).tolist()
        pairs = zip(documents, rows, strict=True)
        return {"documents": [replace(document, embedding=row) for document, row in pairs]}

    def _text(self, document: Document) -> str:
        fields = [document.meta.get(name) for name in self.meta_fields_to_embed]
        texts = [str(field) for field in fields if field is not None]
        return self.embedding_separator.join([*texts, document.content or ""])

    def to_dict(self) -> dict[str, Any]:
        """The component as a dictionary."""
        data: dict[str, Any] = default_to_dict(
            self,
            model=name_of(self.model),
            prefix=self.prefix,
            normalize_embeddings=self.normalize_embeddings,
            meta_fields_to_embed=self.meta_fields_to_embed,
            embedding_separator=self.embedding_separator,
        )
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The component of a dictionary."""
        made: Self = default_from_dict(cls, data)
        return made
