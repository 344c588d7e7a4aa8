"""Vectors of texts by many recipes at once: hidden states are computed once and pooled often."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder
from malmoi.encode.pipeline.text_pooling import TokenRows
from malmoi.encode.pooling.layers import choose_layers
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.tokens.inputs import Text
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter

CHUNK_TEXTS = 256  # even, so that pairs stay together


def stream_recipes(
    encoder: ContextualEncoder,
    texts: Sequence[Text],
    recipes: Sequence[Recipe],
    *,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Iterator[list[Float32Array]]:
    """For some texts at a time, one matrix [some texts, dim] per recipe.

    Neighbouring recipes that pool the same layers in the same way share this step. Only the states
    of batches that run at the moment are in memory.
    """
    chosen = [choose_layers(recipe.layers, encoder.config.num_states) for recipe in recipes]
    layers = sorted({layer for some in chosen for layer in some})
    indices = [[layers.index(layer) for layer in some] for some in chosen]
    poolings = [encoder.pooling(recipe) for recipe in recipes]
    stats = TextStats(needs_layers=True)

    def pooled(states: list[Float32Array], encodings: list[Any]) -> list[list[Float32Array]]:
        vectors = []
        for _, group in groupby(range(len(recipes)), lambda i: _layer_key(recipes[i], indices[i])):
            same = list(group)
            used = [states[index] for index in indices[same[0]]]
            rows = TokenRows(poolings[same[0]].pool_layers(used), encodings)
            vectors += [poolings[i].pool_tokens(rows) for i in same]
        return [[rows[text] for rows in vectors] for text in range(len(encodings))]

    for start in range(0, len(texts), CHUNK_TEXTS):
        encoded = encoder.pipeline.tokenize(texts[start : start + CHUNK_TEXTS])
        encoder.pipeline.count(encoded, stats)
        by_text = encoder.pipeline.run(encoded.encodings, layers, pooled)
        yield [np.stack(rows) for rows in zip(*by_text, strict=True)]
    reporter.inputs(encoder.name, stats)


def _layer_key(recipe: Recipe, indices: list[int]) -> tuple[object, ...]:
    return tuple(indices), recipe.layer_pooling, recipe.weights, recipe.scale
