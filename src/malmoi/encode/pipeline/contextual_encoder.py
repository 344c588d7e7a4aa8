"""ContextualEncoder: an encoder with layers, whose vectors of words depend on their context.

What transformers and ELMo have in common: texts through the pipeline, to one vector each or to
the hidden states of every layer. Knows nothing of any model.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal, Protocol, Self

from malmoi.arguments import expect
from malmoi.arrays import Float32Array
from malmoi.encode.pipeline.activations import Activations
from malmoi.encode.pipeline.encode_call import collect_vectors, explain_renamed
from malmoi.encode.pipeline.text_pipeline import EncodedTexts, TextPipeline
from malmoi.encode.pipeline.text_pooling import Pooling, recipe_pooling
from malmoi.encode.pooling.groups import Pool
from malmoi.encode.pooling.layer_pooling import LayerPooling
from malmoi.encode.pooling.layers import Layers, choose_layers
from malmoi.encode.pooling.recipes import Recipe, choose_recipe
from malmoi.encode.protocol import Arithmetic
from malmoi.encode.runtime.batches import BatchEngine
from malmoi.encode.tokens.chunks import CHUNK_CHARACTERS, chunks, prepare_ahead
from malmoi.encode.tokens.inputs import Text, TextOrPair, check_texts
from malmoi.encode.tokens.passages import Span, split_text
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.encode.tokens.text_tokenizer import TextTokenizer
from malmoi.encode.tokens.windows import Overflow, check_overflow, untruncated
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter

ContextualKind = Literal["transformer", "elmo"]
CHUNK_TEXTS = 4096  # texts that are tokenized, sorted by length and run together, at most
MIN_PASSAGE_TOKENS = 16  # even if a prompt leaves less
MAX_TEXTS_IN_MEMORY, MAX_CHARACTERS_IN_MEMORY = 256, 1 << 18  # whose states are in memory


class ModelSizes(Protocol):
    """The sizes of a model, whatever its kind."""

    @property
    def dim(self) -> int:
        """The dimension of a token's vector."""

    @property
    def layers(self) -> int:
        """The number of layers."""

    @property
    def num_states(self) -> int:
        """The number of hidden states: the embeddings, and the output of each layer."""


class ContextualEngine(BatchEngine, Protocol):
    """An engine that may change to a faster one."""

    arithmetic: Arithmetic

    def wake_workers(self) -> None:
        """Wake sleeping threads, because a batch will come soon."""

    def compile(self) -> None:
        """Switch to the fastest engine of this machine and stay with it."""

    def pinned(self, tokens: int) -> AbstractContextManager[None]:
        """Run a job of about this many tokens with one engine from beginning to end."""


@dataclass(frozen=True, eq=False, repr=False)
class ContextualEncoder(ABC):
    """A model with layers, its tokenizer and an engine; see `load_contextual`."""

    name: str
    config: ModelSizes
    tokenizer: TextTokenizer
    engine: ContextualEngine

    @property
    @abstractmethod
    def kind(self) -> ContextualKind:
        """What the model is."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """The dimension of a text's vector without a recipe."""

    @property
    @abstractmethod
    def own_layers(self) -> tuple[int, ...]:
        """The layers, from 0, of the vectors without a recipe."""

    @property
    @abstractmethod
    def own_pooling(self) -> Pooling:
        """How the states of these layers become vectors without a recipe."""

    @property
    @abstractmethod
    def pools_special_tokens(self) -> bool:
        """Whether recipes pool special tokens too, unless they say otherwise."""

    @property
    @abstractmethod
    def prompts(self) -> Mapping[str, str]:
        """The model's prompts by name."""

    @property
    @abstractmethod
    def default_prompt(self) -> str | None:
        """The name of the prompt that is put before texts if none is named."""

    @abstractmethod
    def with_prompts(self, prompts: Mapping[str, str], default: str | None) -> Self:
        """The same encoder with other prompts."""

    @cached_property
    def pipeline(self) -> TextPipeline:
        """The steps from texts to vectors."""
        return TextPipeline(self.tokenizer, self.engine)

    def recipe_dim(self, recipe: Recipe | None) -> int:
        """The dimension of a vector by a recipe; `None` is the model's own."""
        if recipe is None:
            return self.dim
        layers = choose_layers(recipe.layers, self.config.num_states)
        return self.config.dim * (len(layers) if recipe.layer_pooling == "concat" else 1)

    def compile(self) -> None:
        """Switch to the fastest engine now, instead of after some thousand texts.

        Loading the compiled kernels takes about a second, and some seconds more if they are not
        cached yet.
        """
        self.engine.compile()

    @explain_renamed
    def encode(
        self,
        texts: str | Iterable[TextOrPair],
        *,
        layers: Layers | None = None,
        layer_pooling: LayerPooling | None = None,
        pool: Pool | None = None,
        recipe: Recipe | str | None = None,
        prompt: str | None = None,
        overflow: Overflow = "truncate",
        overlap: int | None = None,
        batch_size: int | None = None,
        normalize: bool = False,
        show_progress: bool = False,
        reporter: Reporter = DEFAULT_REPORTER,
    ) -> Float32Array:
        """One vector per text.

        Without a recipe, layers, layer_pooling or pool, vectors are those that the model folder
        defines, the same as sentence-transformers computes; for ELMo, the mean of all layers and
        words. With any of these, they follow the recipe exactly, without the folder's last steps.

        Args:
            texts: Strings, token lists, or tuples of two strings for pairs: a list, a generator,
                a Series or an array; or a single string. Tokens of a list are joined by spaces;
                ELMo reads them as they are.
            layers: The hidden states to use: -2, [-2, -1], "0,3,6", "-4:" or "all".
            layer_pooling: How several layers become one: single, sum, mean, concat or weighted.
            pool: How tokens become one vector: cls, mean, max, mean_sqrt, first or last.
            recipe: A `Recipe`, or the name of one.
            prompt: The name of one of the model's prompts, which is put before each text.
            overflow: For texts longer than the model reads: "truncate" them, or run them in
                overlapping "windows".
            overlap: The tokens that neighbouring windows share; by default half a window.
            batch_size: A hint that code for sentence-transformers passes; texts are batched by
                their length, and vectors do not depend on it.
            normalize: Scale each vector to length one.
            show_progress: Draw a progress bar, if no reporter is passed.
            reporter: Gets the progress, and the counts of texts that were truncated, empty,
                unknown or fragmented.

        Returns:
            [texts, dim], or [dim] for a single string.

        Raises:
            InvalidArgumentError: An argument is invalid.
        """
        chosen = None
        if any(value is not None for value in (layers, layer_pooling, pool, recipe)):
            chosen = choose_recipe(recipe, layers=layers, layer_pooling=layer_pooling, pool=pool)
        return collect_vectors(
            texts,
            self.recipe_dim(chosen),
            lambda all_texts, reporter: self.stream(
                all_texts, chosen, prompt, overflow=overflow, overlap=overlap, reporter=reporter
            ),
            batch_size=batch_size,
            normalize=normalize,
            show_progress=show_progress,
            reporter=reporter,
        )

    def stream(
        self,
        texts: Iterable[TextOrPair],
        recipe: Recipe | str | None = None,
        prompt: str | None = None,
        *,
        overflow: Overflow = "truncate",
        overlap: int | None = None,
        reporter: Reporter = DEFAULT_REPORTER,
        stats: TextStats | None = None,
    ) -> Iterator[Float32Array]:
        """The vectors of `encode` in chunks; only a few chunks of texts are in memory.

        Args:
            texts: As for `encode`; may be a generator.
            recipe: A `Recipe` or the name of one; `None` is the model's own.
            prompt: As for `encode`.
            overflow: As for `encode`.
            overlap: As for `encode`.
            reporter: Gets the counts of texts that were truncated, empty, unknown or fragmented
                after the last chunk.
            stats: Where to add these counts instead.

        Yields:
            [some texts, dim], in the order of the texts.

        Raises:
            InvalidArgumentError: An argument is invalid.
        """
        self.engine.wake_workers()
        chosen = None if recipe is None else choose_recipe(recipe)
        pooling = self.pooling(chosen)
        layers = choose_layers(chosen.layers, self.config.num_states) if chosen else self.own_layers
        shared = check_overflow(overflow, overlap, self.tokenizer)
        counts = TextStats() if stats is None else stats
        counts.needs_layers = chosen is not None
        tokenize = partial(self.pipeline.tokenize, prompt=self.prompt_text(prompt))
        encoded: EncodedTexts
        for encoded in prepare_ahead(tokenize, chunks(texts, CHUNK_TEXTS, CHUNK_CHARACTERS)):
            self.pipeline.count(encoded, counts, shared)
            yield self.pipeline.vectors(encoded, layers, pooling, shared)
        if stats is None:
            reporter.inputs(self.name, counts)

    def passages(self, texts: Sequence[str], max_length: int | None = None) -> list[list[Span]]:
        """The start and end of passages that the model reads whole, for each text.

        Args:
            texts: Texts in NFC.
            max_length: The maximum number of tokens, with special ones and a prompt; by default,
                and at most, that of the model.

        Returns:
            One list of (start, end) in characters per text; a short text is one passage.
        """
        prompt = self.pipeline.tokenize([self.prompt_text(None)]).encodings[0]
        limit = min(max_length or self.tokenizer.max_length, self.tokenizer.max_length)
        max_tokens = max(MIN_PASSAGE_TOKENS, limit - len(prompt))
        spans: list[list[Span]] = [[(0, len(text))] for text in texts]
        long = [i for i, text in enumerate(texts) if len(text) > max_tokens]
        step = MAX_TEXTS_IN_MEMORY
        for some in (long[i : i + step] for i in range(0, len(long), step)):
            encodings = self.pipeline.tokenize([texts[i] for i in some]).encodings
            for i, encoding in zip(some, encodings, strict=True):
                if len(encoding) > max_tokens or self.tokenizer.is_truncated(encoding):
                    spans[i] = self._split(texts[i], max_tokens)
        return spans

    def _split(self, text: str, max_tokens: int) -> list[Span]:
        (truncated,) = self.tokenizer([text])
        whole = untruncated(self.tokenizer, truncated)
        if len(whole.text) != len(text):  # lower-casing can lengthen it: offsets would be wrong
            return [(0, len(text))]
        return split_text(text, whole.offsets[~whole.is_special], max_tokens)

    def activations(
        self,
        texts: Iterable[TextOrPair],
        layers: Layers = "all",
        *,
        overflow: Overflow = "truncate",
        overlap: int | None = None,
        reporter: Reporter = DEFAULT_REPORTER,
    ) -> Activations:
        """The hidden states and tokens of each text.

        Args:
            texts: As for `encode`, but several.
            layers: The hidden states to keep: -2, [-2, -1], "0,3,6", "-4:" or "all".
            overflow: As for `encode`.
            overlap: As for `encode`.
            reporter: Gets the counts of texts that were truncated, empty, unknown or fragmented.

        Returns:
            `Activations` with states [layers, tokens, dim] per text.

        Raises:
            InvalidArgumentError: An argument is invalid.
        """
        chosen = choose_layers(layers, self.config.num_states)
        shared = check_overflow(overflow, overlap, self.tokenizer)
        all_texts, stats = check_texts(texts), TextStats()
        activations = self._activations(all_texts, chosen, shared, stats)
        reporter.inputs(self.name, stats)
        return activations

    def stream_activations(
        self,
        texts: Iterable[TextOrPair],
        layers: Layers = "all",
        *,
        overflow: Overflow = "truncate",
        overlap: int | None = None,
        reporter: Reporter = DEFAULT_REPORTER,
        stats: TextStats | None = None,
    ) -> Iterator[Activations]:
        """The same for some texts at a time, so that not all states are in memory at once.

        Args:
            texts: As for `activations`; may be a generator.
            layers: As for `activations`.
            overflow: As for `encode`.
            overlap: As for `encode`.
            reporter: Gets the counts after the last text.
            stats: Where to add these counts instead.

        Yields:
            The `Activations` of some texts, in the order of the texts.

        Raises:
            InvalidArgumentError: An argument is invalid.
        """
        chosen = choose_layers(layers, self.config.num_states)
        shared = check_overflow(overflow, overlap, self.tokenizer)
        counts = TextStats() if stats is None else stats
        for chunk in chunks(texts, MAX_TEXTS_IN_MEMORY, MAX_CHARACTERS_IN_MEMORY):
            yield self._activations(chunk, chosen, shared, counts)
        if stats is None:
            reporter.inputs(self.name, counts)

    def _activations(
        self, texts: Sequence[Text], layers: tuple[int, ...], overlap: int | None, stats: TextStats
    ) -> Activations:
        encoded = self.pipeline.tokenize(texts, offsets=True)
        stats.needs_layers = True
        self.pipeline.count(encoded, stats, overlap)
        tokenized, states = self.pipeline.states(encoded, layers, overlap)
        special, count = self.pools_special_tokens, self.config.num_states
        return Activations(tuple(tokenized), tuple(states), layers, count, special)

    def pooling(self, recipe: Recipe | None) -> Pooling:
        """How the states of a batch become vectors; `None` is the model's own way."""
        return recipe_pooling(recipe, self.pools_special_tokens) if recipe else self.own_pooling

    def prompt_text(self, name: str | None) -> str:
        """The prompt with this name, or else the model's default; "" if there is none."""
        prompts, chosen = self.prompts, name or self.default_prompt
        if chosen is None:
            return ""
        if chosen not in prompts:
            known = f"it has {', '.join(prompts)}" if prompts else "it has none"
            raise InvalidArgumentError(f"{self.name} has no prompt '{chosen}': {known}")
        return prompts[chosen]


def expect_contextual(value: object, name: str = "encoder") -> None:
    """Raise `InvalidArgumentError` unless a value is an encoder with layers."""
    hint = "load one with load_contextual('minilm')"
    expect(value, ContextualEncoder, name, "an encoder with layers", hint=hint)
