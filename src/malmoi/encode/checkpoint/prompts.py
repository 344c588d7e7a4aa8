"""What goes before texts and before queries where a model was trained so.

`query: ` and `passage: `, for example: a folder of sentence-transformers names them, or whoever
knows the model says them.
"""

from dataclasses import dataclass, replace

from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError

# By which names a folder may have them: the first that it has, as `encode_document` of
# sentence-transformers looks for them. Without any there is no prompt, not even its default one.
DOCUMENT, QUERY = ("document", "passage", "corpus"), ("query",)


@dataclass(frozen=True, kw_only=True)
class Prompts:
    """What goes before each text that is to be found, and before what is looked for."""

    document: str = ""
    query: str = ""

    def __post_init__(self) -> None:
        for text in (self.document, self.query):
            if not isinstance(text, str):
                raise InvalidArgumentError(f"a prompt is text, not {text!r}")


def own_prompts(encoder: Encoder) -> Prompts:
    """Those that the encoder's folder names."""
    from malmoi.encode.encoder import TransformerEncoder  # an index of vectors needs none of it

    if not isinstance(encoder, TransformerEncoder):
        return Prompts()
    named = encoder.modules.prompts
    document, query = (
        next((str(named[name] or "") for name in names if name in named), "")
        for names in (DOCUMENT, QUERY)
    )
    return Prompts(document=document, query=query)


def given_prompts(
    encoder: Encoder, *, document: str | None = None, query: str | None = None
) -> Prompts | None:
    """The encoder's own but for what is given; None where nothing is."""
    if document is None and query is None:
        return None
    own = own_prompts(encoder)
    return Prompts(
        document=own.document if document is None else document,
        query=own.query if query is None else query,
    )


def with_prompt(encoder: Encoder, prompt: str) -> Encoder:
    """The same encoder, that puts this before every text and nothing else."""
    from malmoi.encode.encoder import TransformerEncoder

    if isinstance(encoder, TransformerEncoder):
        if encoder.prompt(None) == prompt:  # as it does anyway: a query need not make another one
            return encoder
        modules = replace(encoder.modules, prompts={"own": prompt}, default_prompt="own")
        return replace(encoder, modules=modules)
    if prompt:
        raise InvalidArgumentError(
            f"'{encoder.name}' takes no prompt: '{prompt}' is for a model with layers"
        )
    return encoder
