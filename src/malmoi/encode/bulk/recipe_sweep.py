"""Texts by many recipes at once: hidden states are computed once, pooled, and let go."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.activations import pool_texts
from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.pooling.layers import choose_layers
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.runtime.run_batches import run_batches
from malmoi.encode.tokens.inputs import Text
from malmoi.encode.tokens.text_stats import TextStats

AT_ONCE = 256  # texts; an even number, so that pairs stay together


def stream_recipes(
    encoder: TransformerEncoder, texts: Sequence[Text], recipes: Sequence[Recipe]
) -> Iterator[list[Float32Array]]:
    """For some texts at a time and each recipe, a vector a text: [some texts, dim].

    Recipes that mix the same layers the same way should stand next to each other: these are
    mixed once. Of the states, never more is held than the batches that are being run.
    """
    chosen = [choose_layers(recipe.layers, encoder.config.states) for recipe in recipes]
    numbers = sorted({layer for layers in chosen for layer in layers})
    places = [[numbers.index(layer) for layer in layers] for layers in chosen]
    notes = TextStats(by_layers=True)

    def pooled(states: list[Float32Array], batch: list[Any]) -> list[list[Float32Array]]:
        kept = [np.equal(text.special_tokens_mask, 0) for text in batch]
        inside, sizes = np.concatenate(kept), [int(keep.sum()) for keep in kept]
        found = []
        for _, group in groupby(range(len(recipes)), key=lambda i: _mixture(recipes[i], places[i])):
            same = list(group)
            mixed = recipes[same[0]].mixed([states[place] for place in places[same[0]]])
            without = mixed if all(recipes[i].special for i in same) else mixed[inside]
            for i in same:
                if recipes[i].special:
                    found.append(pool_texts(mixed, [len(text) for text in batch], recipes[i]))
                else:
                    found.append(pool_texts(without, sizes, recipes[i]))
        return [[rows[text] for rows in found] for text in range(len(batch))]

    for start in range(0, len(texts), AT_ONCE):
        uniform = [encoder.cutter.uniform(text) for text in texts[start : start + AT_ONCE]]
        encodings = encoder.cutter.encoded(uniform)
        notes.count(encodings, uniform, encoder.cutter)
        by_text = run_batches(encoder.engine, encoder.config, encodings, numbers, pooled)
        yield [np.stack(rows) for rows in zip(*by_text, strict=True)]
    notes.report(encoder.name)


def _mixture(recipe: Recipe, places: list[int]) -> tuple[object, ...]:
    return tuple(places), recipe.mix, recipe.weights, recipe.scale
