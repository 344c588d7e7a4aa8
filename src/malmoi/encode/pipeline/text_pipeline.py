"""The pipeline from texts to vectors: prompt, normalize, tokenize, batch, run, pool.

Encoders, activations, recipe sweeps, passages and the server all use it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.pipeline.text_pooling import Pooling
from malmoi.encode.pooling.groups import group_bounds
from malmoi.encode.runtime.batches import BatchEngine, Finish, Result, run_batch, run_batches
from malmoi.encode.tokens.inputs import Text
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.encode.tokens.text_tokenizer import TextTokenizer
from malmoi.encode.tokens.tokenized import Tokenized
from malmoi.encode.tokens.windows import all_ids, check_memory, untruncated, windows_of


@dataclass(frozen=True, eq=False)
class EncodedTexts:
    """Normalized texts and their encodings by the tokenizer."""

    texts: list[Text]
    encodings: list[Any]

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, eq=False)
class TextPipeline:
    """A tokenizer and an engine; the pooling is chosen per call.

    With an `overlap`, texts that are too long are run in windows; with None they are truncated.
    """

    tokenizer: TextTokenizer
    engine: BatchEngine

    def tokenize(
        self, texts: Sequence[Text], *, prompt: str = "", offsets: bool = False
    ) -> EncodedTexts:
        """Add the prompt, normalize and tokenize texts."""
        prompted = self.tokenizer.add_prompt(texts, prompt)
        normalized = [self.tokenizer.normalize(text) for text in prompted]
        return EncodedTexts(normalized, self.tokenizer.encode_batch(normalized, offsets=offsets))

    def count(self, encoded: EncodedTexts, stats: TextStats, overlap: int | None = None) -> None:
        """Count texts that are truncated, empty, unknown or fragmented."""
        truncates = overlap is None
        stats.count(encoded.encodings, encoded.texts, self.tokenizer, truncates=truncates)

    def run(
        self, encodings: list[Any], layers: Sequence[int], finish: Finish[Result]
    ) -> list[Result]:
        """Run encodings in batches; `finish` makes one result per text of a batch."""
        return run_batches(self.engine, encodings, layers, finish)

    def run_batch(
        self, encodings: list[Any], layers: Sequence[int], threads: int
    ) -> list[Float32Array]:
        """The hidden states of one batch, each [tokens of all texts, dim]."""
        return run_batch(self.engine, encodings, layers, threads)

    def vectors(
        self, encoded: EncodedTexts, layers: Sequence[int], pooling: Pooling, overlap: int | None
    ) -> Float32Array:
        """One vector per text, [texts, dim]."""
        if overlap is None:
            return np.stack(self.run(encoded.encodings, layers, pooling))
        each = zip(encoded.texts, encoded.encodings, strict=True)
        windows = [
            windows_of(encoding, all_ids(self.tokenizer, text, encoding), overlap)
            for text, encoding in each
        ]
        flat = list(chain(*windows))
        parts = np.stack(self.run(flat, layers, pooling.pool_windows))
        return pooling.combine_windows(parts, flat, [len(some) for some in windows])

    def states(
        self, encoded: EncodedTexts, layers: Sequence[int], overlap: int | None
    ) -> tuple[list[Tokenized], list[Float32Array]]:
        """The tokens of each text, whose encodings have offsets, and its states.

        States are [layers, tokens, dim].
        """
        each = zip(encoded.texts, encoded.encodings, strict=True)
        texts = [self.tokenizer.tokenized(text, encoding) for text, encoding in each]
        if overlap is None:
            return texts, self.run(encoded.encodings, layers, split_states)
        texts = [untruncated(self.tokenizer, text) for text in texts]
        check_memory(texts, len(layers) * self.engine.dim)
        windows = [
            windows_of(encoding, text.ids[~text.is_special], overlap)
            for encoding, text in zip(encoded.encodings, texts, strict=True)
        ]
        parts = self.run(list(chain(*windows)), layers, split_windows)
        bounds = group_bounds([len(some) for some in windows])
        return texts, [np.concatenate(parts[a:b], axis=1) for a, b in pairwise(bounds)]


def split_states(states: list[Float32Array], encodings: list[Any]) -> list[Float32Array]:
    """The states of a batch by text: [layers, tokens, dim]."""
    bounds = group_bounds([len(encoding) for encoding in encodings])
    stacked = np.stack(states)
    return [part.copy() for part in np.split(stacked, bounds[1:-1], axis=1)]


def split_windows(states: list[Float32Array], windows: list[Any]) -> list[Float32Array]:
    """The states of the tokens that each window of a batch keeps: [layers, tokens, dim]."""
    each = zip(split_states(states, windows), windows, strict=True)
    return [part[:, window.kept] for part, window in each]
