"""Texts embedded one after the other in bounded memory, by any encoder."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

from malmoi.arrays import Float32Array
from malmoi.encode.activations import Activations, SpanVectors
from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.pooling.groups import Join
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.protocol import Encoder
from malmoi.encode.tokens.inputs import SURROGATES
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.encode.tokens.windows import Long
from malmoi.errors import InvalidArgumentError

Per = Literal["text", "word", "piece"]
PERS: tuple[Per, ...] = get_args(Per)


@dataclass(frozen=True, kw_only=True)
class EmbedSettings:
    """What is wanted of each text: one vector, or one a word or a piece.

    `recipe` is the model's own where it is `None`; `join` makes a word of its pieces; `prompt`
    goes before each text, and with words and pieces there is none. Texts longer than the model
    takes are truncated, or read in windows that share `overlap` pieces.
    """

    recipe: Recipe | None = None
    per: Per = "text"
    join: Join = "mean"
    prompt: str | None = None
    long: Long = "truncate"
    overlap: int | None = None

    def __post_init__(self) -> None:
        if self.per not in PERS:
            raise InvalidArgumentError(
                f"there is no vector per '{self.per}': {', '.join(PERS)} have one"
            )
        if self.prompt is not None and self.per != "text":
            raise InvalidArgumentError(f"a prompt goes before texts: there is none per {self.per}")


@dataclass(frozen=True, eq=False)
class EmbeddedTexts:
    """Some texts with their vectors [texts, dim], or with their words or pieces."""

    texts: list[str]
    vectors: Float32Array | list[SpanVectors]

    def records(self, per: Per) -> Iterator[dict[str, Any]]:
        """A record a text: `text` and `vector`, or `text` and `words` or `pieces`."""
        for text, found in zip(self.texts, self.vectors, strict=True):
            if isinstance(found, SpanVectors):
                yield {"text": text, f"{per}s": _records(found, per)}
            else:
                yield {"text": text, "vector": found.tolist()}


def embed(
    encoder: Encoder, texts: Iterable[str], wish: EmbedSettings, notes: TextStats | None = None
) -> Iterator[EmbeddedTexts]:
    """Some texts at a time; never more than a few chunks of them are held.

    What a contextual encoder met goes into `notes`, or is reported where there are none.
    """
    if not isinstance(encoder, TransformerEncoder):
        if wish != EmbedSettings():
            raise InvalidArgumentError(
                f"{encoder.name} has no layers: it gives a vector a text, and no words, pieces,"
                " prompts or windows; choose a model such as minilm"
            )
        yield from _paired(texts, encoder.stream)
    elif wish.per == "text":
        yield from _paired(
            texts,
            lambda some: encoder.stream(
                some, wish.recipe, wish.prompt, long=wish.long, overlap=wish.overlap, notes=notes
            ),
        )
    else:
        recipe = wish.recipe or Recipe()
        for states in encoder.stream_activations(
            texts, recipe.layers, long=wish.long, overlap=wish.overlap, notes=notes
        ):
            yield EmbeddedTexts([text.text for text in states.texts], _parts(states, recipe, wish))


def dim_of(encoder: Encoder, wish: EmbedSettings) -> int:
    """How many numbers each vector has."""
    if not isinstance(encoder, TransformerEncoder):
        return encoder.dim
    return encoder.width(wish.recipe if wish.per == "text" else wish.recipe or Recipe())


def _paired(texts: Iterable[str], stream: Any) -> Iterator[EmbeddedTexts]:
    """Vectors with the texts they are of, which were read a little ahead."""
    waiting: deque[str] = deque()

    def passing() -> Iterator[str]:
        for text in texts:
            waiting.append(text)
            yield text

    for vectors in stream(passing()):
        yield EmbeddedTexts([clean(waiting.popleft()) for _ in vectors], vectors)


def clean(text: str) -> str:
    """A text as it can be written: half a character becomes U+FFFD, as it does for models."""
    return SURROGATES.sub("\ufffd", text)


def _parts(states: Activations, recipe: Recipe, wish: EmbedSettings) -> list[SpanVectors]:
    if wish.per == "word":
        return states.words(recipe, join=wish.join)
    return states.pieces(recipe)


def _records(parts: SpanVectors, name: str) -> list[dict[str, Any]]:
    each = zip(parts.keys, parts.offsets.tolist(), parts.matrix.tolist(), strict=True)
    return [
        {name: key, "begin": begin, "end": end, "vector": vector}
        for key, (begin, end), vector in each
    ]
