"""Embeds texts one after the other in bounded memory, with any encoder."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

from malmoi.arrays import Float32Array
from malmoi.encode.bulk.concatenated_words import add_word_vectors, contextual_part
from malmoi.encode.pipeline.activations import Activations, SpanVectors
from malmoi.encode.pipeline.concatenated import ConcatenatedEncoder
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder
from malmoi.encode.pooling.groups import WordPooling
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.protocol import Encoder
from malmoi.encode.tokens.inputs import SURROGATES
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.encode.tokens.windows import Overflow
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.text_inputs import TextLike, strings

Per = Literal["text", "word", "token"]
PERS: tuple[Per, ...] = get_args(Per)


@dataclass(frozen=True, kw_only=True)
class EmbedSettings:
    """What to compute for each text.

    Args:
        recipe: Layers and pooling; `None` is the model's own recipe.
        per: One vector per "text", per "word" or per "token".
        word_pooling: How the tokens of a word become one vector: mean, sum, first or last.
        prompt: The name of one of the model's prompts, for vectors of texts only.
        overflow: For texts longer than the model reads: "truncate" or "windows".
        overlap: The tokens that neighbouring windows share; by default half a window.

    Raises:
        InvalidArgumentError: A value is unknown, or values contradict each other.
    """

    recipe: Recipe | None = None
    per: Per = "text"
    word_pooling: WordPooling = "mean"
    prompt: str | None = None
    overflow: Overflow = "truncate"
    overlap: int | None = None

    def __post_init__(self) -> None:
        if self.per not in PERS:
            raise InvalidArgumentError(f"per must be one of {', '.join(PERS)}; got '{self.per}'")
        if self.prompt is not None and self.per != "text":
            raise InvalidArgumentError(f"prompt needs per='text', not per='{self.per}'")


@dataclass(frozen=True, eq=False)
class EmbeddedTexts:
    """Some texts with their vectors [texts, dim], or with their words or tokens."""

    texts: list[str]
    vectors: Float32Array | list[SpanVectors]

    def records(self, per: Per) -> Iterator[dict[str, Any]]:
        """One record per text: `text` and `vector`, or `text` and `words` or `tokens`."""
        for text, vectors in zip(self.texts, self.vectors, strict=True):
            if isinstance(vectors, SpanVectors):
                yield {"text": text, f"{per}s": _span_records(vectors, per)}
            else:
                yield {"text": text, "vector": vectors.tolist()}


def embed(
    encoder: Encoder,
    texts: Iterable[TextLike],
    settings: EmbedSettings | None = None,
    *,
    reporter: Reporter = DEFAULT_REPORTER,
    stats: TextStats | None = None,
) -> Iterator[EmbeddedTexts]:
    """Embed some texts at a time; only a few chunks of them are in memory.

    The reporter gets the counts of a transformer's texts, unless there are `stats` to add them to.
    """
    settings, texts = settings or EmbedSettings(), strings(texts)
    if settings.per == "word" and isinstance(encoder, ConcatenatedEncoder):
        part = contextual_part(encoder)
        for some in embed(part, texts, settings, reporter=reporter, stats=stats):
            assert isinstance(some.vectors, list)
            yield EmbeddedTexts(some.texts, add_word_vectors(encoder, some.vectors))
        return
    if not isinstance(encoder, ContextualEncoder):
        if settings != EmbedSettings():
            raise InvalidArgumentError(
                f"{encoder.name} has no layers: it makes one vector per text, without recipes,"
                " words, tokens, prompts or windows; choose a transformer such as minilm"
            )
        yield from _with_texts(texts, partial(encoder.stream, reporter=reporter))
        return
    if settings.per == "text":
        stream = partial(
            encoder.stream,
            recipe=settings.recipe,
            prompt=settings.prompt,
            reporter=reporter,
            stats=stats,
            overflow=settings.overflow,
            overlap=settings.overlap,
        )
        yield from _with_texts(texts, stream)
        return
    recipe = settings.recipe or Recipe()
    for chunk in encoder.stream_activations(
        texts,
        recipe.layers,
        overflow=settings.overflow,
        overlap=settings.overlap,
        reporter=reporter,
        stats=stats,
    ):
        spans = _spans(chunk, recipe, settings)
        yield EmbeddedTexts([text.text for text in chunk.texts], spans)


def output_dim(encoder: Encoder, settings: EmbedSettings) -> int:
    """The dimension of each vector."""
    if settings.per == "word" and isinstance(encoder, ConcatenatedEncoder):
        part = contextual_part(encoder)
        return encoder.dim - part.dim + output_dim(part, settings)
    if not isinstance(encoder, ContextualEncoder):
        return encoder.dim
    is_text = settings.per == "text"
    return encoder.recipe_dim(settings.recipe if is_text else settings.recipe or Recipe())


def replace_surrogates(text: str) -> str:
    """A text that UTF-8 can encode: lone surrogates become U+FFFD, as they do for models."""
    return SURROGATES.sub("\ufffd", text)


def _with_texts(
    texts: Iterable[str], stream: Callable[[Iterable[str]], Iterator[Float32Array]]
) -> Iterator[EmbeddedTexts]:
    """Chunks of vectors with their texts, which the stream reads a little ahead."""
    waiting: deque[str] = deque()

    def remember() -> Iterator[str]:
        for text in texts:
            waiting.append(text)
            yield text

    for vectors in stream(remember()):
        yield EmbeddedTexts([replace_surrogates(waiting.popleft()) for _ in vectors], vectors)


def _spans(chunk: Activations, recipe: Recipe, settings: EmbedSettings) -> list[SpanVectors]:
    if settings.per == "word":
        return chunk.words(recipe, word_pooling=settings.word_pooling)
    return chunk.tokens(recipe)


def _span_records(spans: SpanVectors, name: str) -> list[dict[str, Any]]:
    each = zip(spans.keys, spans.offsets.tolist(), spans.matrix.tolist(), strict=True)
    return [
        {name: key, "begin": begin, "end": end, "vector": vector}
        for key, (begin, end), vector in each
    ]
