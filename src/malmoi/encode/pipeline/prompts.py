"""Prompts before documents and before queries, for models that were trained with them.

`query: ` and `passage: `, for example: a sentence-transformers folder names them, or the user
passes them.
"""

from dataclasses import dataclass

from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError

# Their names in a model folder: the first that exists, as in `encode_document` of
# sentence-transformers. If none exists there is no prompt, not even the default one.
DOCUMENT_NAMES, QUERY_NAMES = ("document", "passage", "corpus"), ("query",)


@dataclass(frozen=True, kw_only=True)
class Prompts:
    """The prompts of a search.

    Args:
        document: Text before each document of an index.
        query: Text before each query.

    Raises:
        InvalidArgumentError: A prompt is not a string.
    """

    document: str = ""
    query: str = ""

    def __post_init__(self) -> None:
        for text in (self.document, self.query):
            if not isinstance(text, str):
                raise InvalidArgumentError(f"a prompt must be a string, not {text!r}")


def own_prompts(encoder: Encoder) -> Prompts:
    """The prompts that the encoder's folder defines."""
    if not isinstance(encoder, ContextualEncoder):
        return Prompts()
    named = encoder.prompts
    document, query = (
        next((str(named[name] or "") for name in names if name in named), "")
        for names in (DOCUMENT_NAMES, QUERY_NAMES)
    )
    return Prompts(document=document, query=query)


def given_prompts(
    encoder: Encoder, *, document: str | None = None, query: str | None = None
) -> Prompts | None:
    """The encoder's own prompts with some replaced; None if none is passed."""
    if document is None and query is None:
        return None
    own = own_prompts(encoder)
    return Prompts(
        document=own.document if document is None else document,
        query=own.query if query is None else query,
    )


def with_prompt(encoder: Encoder, prompt: str) -> Encoder:
    """The same encoder with this prompt before every text."""
    if isinstance(encoder, ContextualEncoder):
        if encoder.prompt_text(None) == prompt:  # a query needs no copy of the encoder
            return encoder
        return encoder.with_prompts({"own": prompt}, "own")
    if prompt:
        raise InvalidArgumentError(
            f"'{encoder.name}' takes no prompt '{prompt}': prompts are for transformers"
        )
    return encoder
