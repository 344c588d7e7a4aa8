"""TextEmbedder: the vectors of documents and queries, by a model's name or by a model itself.

What all adapters share. Knows nothing of any framework.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from os import PathLike
from pathlib import Path

from malmoi.arrays import Float32Array
from malmoi.encode.loading import load_encoder
from malmoi.encode.pipeline.prompts import Prompts, given_prompts, own_prompts, with_prompt
from malmoi.encode.protocol import Encoder, expect_encoder
from malmoi.encode.static.average import average_encoder
from malmoi.errors import InvalidArgumentError
from malmoi.search.fingerprint import model_name
from malmoi.text_inputs import TextLike, strings
from malmoi.vectors import Vectors, l2_normalize

ModelLike = str | PathLike[str] | Encoder | Vectors
MAX_LOADED = 2  # models that are kept; clones of an estimator, and reloaded components, share them


@dataclass(frozen=True, eq=False, kw_only=True)
class TextEmbedder:
    """A model with a prompt before documents, a prompt before queries, and vectors as asked for.

    Args:
        model: A name that `load_encoder` takes, an encoder, or word vectors.
        document_prompt: Text before each document, instead of the model's own.
        query_prompt: Text before each query, instead of the model's own.
        normalize: Scale each vector to length one.
    """

    model: ModelLike
    document_prompt: str | None = None
    query_prompt: str | None = None
    normalize: bool = False

    @cached_property
    def encoder(self) -> Encoder:
        """The model, loaded when it is first used."""
        return load_model(self.model)

    @cached_property
    def document_encoder(self) -> Encoder:
        """The model with its prompt before documents."""
        return with_prompt(self.encoder, self.prompts.document)

    @cached_property
    def query_encoder(self) -> Encoder:
        """The model with its prompt before queries."""
        return with_prompt(self.encoder, self.prompts.query)

    @cached_property
    def prompts(self) -> Prompts:
        """The prompts before documents and queries."""
        passed = given_prompts(self.encoder, document=self.document_prompt, query=self.query_prompt)
        return passed or own_prompts(self.encoder)

    def documents(self, texts: Iterable[TextLike]) -> Float32Array:
        """One vector per document, [texts, dim]."""
        return self._scaled(self.document_encoder.encode(list(strings(texts))))

    def queries(self, texts: Iterable[TextLike]) -> Float32Array:
        """One vector per query, [texts, dim]."""
        return self._scaled(self.query_encoder.encode(list(strings(texts))))

    def _scaled(self, rows: Float32Array) -> Float32Array:
        return l2_normalize(rows) if self.normalize else rows


def load_model(model: ModelLike) -> Encoder:
    """The encoder of a name or of word vectors, or the encoder itself.

    Raises:
        InvalidArgumentError: The value is not a model.
        InvalidFileError: There is no such model, or its files are damaged.
    """
    if isinstance(model, Vectors):
        return average_encoder(model)
    if isinstance(model, str | PathLike):
        path = Path(model)
        return _load(str(model), path.stat().st_mtime_ns if path.exists() else 0)
    expect_encoder(model, "model")
    return model


@lru_cache(maxsize=MAX_LOADED)
def _load(name: str, changed: int) -> Encoder:
    """Load a model by name; `changed` is when its folder or file changed, which loads it again."""
    return load_encoder(name)


def name_of(model: ModelLike) -> str:
    """The name to load a model by in another process.

    Raises:
        InvalidArgumentError: The model is word vectors in memory, which have no name.
    """
    if isinstance(model, Vectors):
        raise InvalidArgumentError(
            "word vectors in memory have no name to load them by: save them, and pass the path"
        )
    return str(model) if isinstance(model, str | PathLike) else model_name(model)
