"""The texts, tokens or token ids of a request as inputs of a transformer.

Knows nothing of HTTP or of other requests.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder
from malmoi.encode.pooling.layers import choose_layers
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.tokens.inputs import Text
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.encode.tokens.tokenized import Tokenized
from malmoi.serve.service.jobs import OutputSpec, TransformerJob

TOKENIZE_BATCH = 64  # texts per call: what is truncated needs far more memory than what is kept
MAX_GRAPHS = 4  # beside the model's own: each holds memory, and clients may request any layers


@dataclass(frozen=True)
class Pretokenized:
    """The token ids of a text, from the tokenizer or from a client.

    `overflowing` is not empty if the text was truncated; `tokenized` has tokens and offsets where
    the request needs them.
    """

    ids: Any  # [tokens], or [tokens, characters] of ELMo
    special_tokens_mask: Sequence[int]
    type_ids: Sequence[int]
    overflowing: Sequence[int] = ()
    tokenized: Tokenized | None = None

    @property
    def is_truncated(self) -> bool:
        """Whether the text was longer than the model reads."""
        return bool(self.overflowing)

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(eq=False)
class RequestTokenizer:
    """A transformer, the special tokens around its texts, and the graphs that are in use."""

    encoder: ContextualEncoder
    graphs: set[tuple[int, ...]] = field(default_factory=set)

    @property
    def max_tokens(self) -> int:
        """The longest text that the model reads, with special tokens."""
        return self.encoder.tokenizer.max_length

    @property
    def default_output(self) -> OutputSpec:
        """The output of the model's own recipe."""
        return OutputSpec(self.encoder.own_layers)

    def output(self, recipe: Recipe, *, pooled: bool = True) -> OutputSpec:
        """The output of a recipe."""
        return OutputSpec(
            choose_layers(recipe.layers, self.encoder.config.num_states), recipe, pooled
        )

    def job(self, output: OutputSpec) -> TransformerJob:
        """The job that computes the layers of an output: one layer, or all up to the highest.

        So a few graphs serve all recipes; once all are in use, the whole model is run.
        """
        if output.layers == self.default_output.layers:
            return TransformerJob(self.encoder, output.layers)
        layers = output.layers if len(output.layers) == 1 else tuple(range(max(output.layers) + 1))
        if layers not in self.graphs and len(self.graphs) >= MAX_GRAPHS:
            layers = tuple(range(self.encoder.config.num_states))
        else:
            self.graphs.add(layers)
        return TransformerJob(self.encoder, layers)

    def tokenize(
        self, texts: Sequence[Text], *, offsets: bool = False, prompt: str = ""
    ) -> list[Pretokenized]:
        """Tokenize texts, a few at a time; `offsets` keeps tokens and offsets too."""
        inputs = list[Pretokenized]()
        for start in range(0, len(texts), TOKENIZE_BATCH):
            batch = texts[start : start + TOKENIZE_BATCH]
            encoded = self.encoder.pipeline.tokenize(batch, prompt=prompt, offsets=offsets)
            inputs += map(partial(self._input, offsets), encoded.texts, encoded.encodings)
        return inputs

    def _input(self, offsets: bool, text: Text, encoding: Any) -> Pretokenized:
        tokenized = self.encoder.tokenizer.tokenized(text, encoding) if offsets else None
        return self._pretokenized(encoding, tokenized)

    def _pretokenized(self, encoding: Any, tokenized: Tokenized | None = None) -> Pretokenized:
        overflowing = (1,) if self.encoder.tokenizer.is_truncated(encoding) else ()
        mask, type_ids = encoding.special_tokens_mask, encoding.type_ids
        return Pretokenized(encoding.ids, mask, type_ids, overflowing, tokenized)

    def count_inputs(self, encodings: Sequence[Pretokenized], texts: Sequence[Text]) -> TextStats:
        """Count the texts that are truncated, empty, unknown or fragmented."""
        stats = TextStats()
        stats.count(encodings, texts, self.encoder.tokenizer)
        return stats

    def from_token_ids(self, token_ids: Sequence[int]) -> Pretokenized:
        """Token ids of a client; special tokens are added where they are missing.

        Raises:
            InvalidArgumentError: An id is not in the vocabulary, or the model has no ids.
        """
        return self._pretokenized(self.encoder.tokenizer.encode_ids(token_ids))

    def from_tokens(self, tokens: Sequence[str]) -> Pretokenized:
        """Tokens of a client; those outside the vocabulary become the unknown token."""
        return self._pretokenized(self.encoder.tokenizer.encode_tokens(tokens))

    def token_strings(self, encoding: Pretokenized) -> list[str]:
        """The tokens of a text as strings."""
        return self.encoder.tokenizer.token_strings(encoding.ids)
