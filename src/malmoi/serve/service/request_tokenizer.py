"""The texts, tokens or token ids of a request as inputs of a transformer.

Knows nothing of HTTP or of other requests.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.pooling.layers import choose_layers
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.tokens.inputs import Text
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.encode.tokens.tokenized import Tokenized
from malmoi.errors import InvalidArgumentError
from malmoi.serve.service.jobs import OutputSpec, TransformerJob

TOKENIZE_BATCH = 64  # texts per call: what is truncated needs far more memory than what is kept
MAX_GRAPHS = 4  # beside the model's own: each holds memory, and clients may request any layers


@dataclass(frozen=True)
class Pretokenized:
    """The token ids of a text, from the tokenizer or from a client.

    `overflowing` is not empty if the text was truncated; `tokenized` has tokens and offsets where
    the request needs them.
    """

    ids: Sequence[int]
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

    encoder: TransformerEncoder
    graphs: set[tuple[int, ...]] = field(default_factory=set)
    prefix_ids: list[int] = field(init=False)
    suffix_ids: list[int] = field(init=False)

    def __post_init__(self) -> None:
        (sample,) = self.encoder.pipeline.tokenize(["a"]).encodings
        start = sample.special_tokens_mask.index(0)
        self.prefix_ids, self.suffix_ids = sample.ids[:start], sample.ids[start + 1 :]

    @property
    def max_tokens(self) -> int:
        """The longest text that the model reads, with special tokens."""
        return self.encoder.tokenizer.max_length

    @property
    def default_output(self) -> OutputSpec:
        """The output of the model's own recipe."""
        return OutputSpec((self.encoder.config.num_states - 1,))

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
        return Pretokenized(
            encoding.ids,
            encoding.special_tokens_mask,
            encoding.type_ids,
            (1,) if self.encoder.tokenizer.is_truncated(encoding) else (),
            self.encoder.tokenizer.tokenized(text, encoding) if offsets else None,
        )

    def count_inputs(self, encodings: Sequence[Pretokenized], texts: Sequence[Text]) -> TextStats:
        """Count the texts that are truncated, empty, unknown or fragmented."""
        stats = TextStats()
        stats.count(encodings, texts, self.encoder.tokenizer)
        return stats

    def from_token_ids(self, token_ids: Sequence[int]) -> Pretokenized:
        """Token ids of a client; special tokens are added where they are missing.

        Raises:
            InvalidArgumentError: An id is not in the vocabulary.
        """
        vocab_size = self.encoder.config.vocab_size
        for token_id in token_ids:
            if not 0 <= token_id < vocab_size:
                raise InvalidArgumentError(
                    f"token id {token_id} is out of range: ids go from 0 to {vocab_size - 1}"
                )
        prefix, suffix, inner = self.prefix_ids, self.suffix_ids, list(token_ids)
        if inner[: len(prefix)] == prefix and inner[-len(suffix) :] == suffix:
            inner = inner[len(prefix) : len(inner) - len(suffix)]
        max_inner = self.max_tokens - len(prefix) - len(suffix)
        mask = [1] * len(prefix) + [0] * len(inner[:max_inner]) + [1] * len(suffix)
        ids = [*prefix, *inner[:max_inner], *suffix]
        return Pretokenized(ids, mask, [0] * len(ids), inner[max_inner:])

    def from_tokens(self, tokens: Sequence[str]) -> Pretokenized:
        """Tokens of a client; those outside the vocabulary become the unknown token."""
        unknown_id = self.encoder.tokenizer.unk_token_id or 0
        ids = map(self.encoder.tokenizer.backend.token_to_id, tokens)
        return self.from_token_ids([unknown_id if one is None else one for one in ids])

    def token_strings(self, encoding: Pretokenized) -> list[str]:
        """The tokens of a text as strings."""
        return list(map(self.encoder.tokenizer.backend.id_to_token, encoding.ids))
