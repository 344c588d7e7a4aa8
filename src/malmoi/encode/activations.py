"""Activations: the hidden states of texts, and the vectors of texts, words and pieces in them.

Every encoder that reads in context makes these, so layers are mixed and pooled here alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Float32Array, Int32Array, Int64Array
from malmoi.encode.pooling.groups import JOINS, Join, Pool, group_bounds, pool_groups
from malmoi.encode.pooling.layers import Layers, choose_layers
from malmoi.encode.pooling.mixing import Mix
from malmoi.encode.pooling.recipes import Recipe, choose_recipe
from malmoi.encode.tokens.tokenized import SPECIAL, Tokenized
from malmoi.errors import InvalidArgumentError


@dataclass(frozen=True, eq=False)
class SpanVectors:
    """What a text is made of, words or pieces: each with its place and its vector.

    `offsets` [n, 2] are characters of the text; special pieces have 0, 0.
    """

    keys: tuple[str, ...]
    offsets: Int32Array
    matrix: Float32Array  # [n, dim]


@dataclass(frozen=True, eq=False, repr=False)
class Activations:
    """`states[i]` [layers, pieces, dim] belongs to `texts[i]`.

    `layers` says which states of the model these are, of the `count` it has.
    """

    texts: tuple[Tokenized, ...]
    states: tuple[Float32Array, ...]
    layers: tuple[int, ...]
    count: int

    def pooled(
        self,
        recipe: Recipe | str | None = None,
        *,
        layers: Layers | None = None,
        mix: Mix | None = None,
        pool: Pool | None = None,
    ) -> Float32Array:
        """A vector a text, [texts, dim]."""
        chosen = choose_recipe(recipe, layers=layers, mix=mix, pool=pool)
        if not self.texts:
            return np.empty((0, 0), np.float32)
        kept = [self._kept(text, chosen) for text in self.texts]
        rows = [self._mixed(i, chosen)[keep] for i, keep in enumerate(kept)]
        return pool_texts(np.concatenate(rows), [len(keep) for keep in kept], chosen)

    def words(
        self,
        recipe: Recipe | str | None = None,
        *,
        layers: Layers | None = None,
        mix: Mix | None = None,
        join: Join = "mean",
    ) -> list[SpanVectors]:
        """The words of each text, the vectors of their pieces joined; nothing is pooled."""
        if join not in JOINS:
            raise InvalidArgumentError(
                f"there is no join '{join}': choose one of {', '.join(JOINS)}"
            )
        chosen = choose_recipe(recipe, layers=layers, mix=mix)
        return [
            SpanVectors(
                text.word_texts(),
                text.word_offsets,
                pool_groups(self._mixed(i, chosen)[_in_words(text)], _word_bounds(text), join),
            )
            for i, text in enumerate(self.texts)
        ]

    def pieces(
        self,
        recipe: Recipe | str | None = None,
        *,
        layers: Layers | None = None,
        mix: Mix | None = None,
    ) -> list[SpanVectors]:
        """The pieces of each text, special ones too unless a recipe leaves them out."""
        chosen = choose_recipe(recipe, layers=layers, mix=mix)
        found = []
        for i, text in enumerate(self.texts):
            keep = self._kept(text, chosen)
            keys = tuple(text.pieces[piece] for piece in keep)
            found.append(SpanVectors(keys, text.offsets[keep], self._mixed(i, chosen)[keep]))
        return found

    def _mixed(self, i: int, recipe: Recipe) -> Float32Array:
        places = []
        for layer in choose_layers(recipe.layers, self.count):
            if layer not in self.layers:
                held = ", ".join(map(str, self.layers))
                raise InvalidArgumentError(
                    f"layer {layer} was not kept: these activations hold {held}"
                )
            places.append(self.layers.index(layer))
        return recipe.mixed([self.states[i][place] for place in places])

    @staticmethod
    def _kept(text: Tokenized, recipe: Recipe) -> Int64Array:
        return np.flatnonzero(~text.special | recipe.special)

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"Activations({len(self)} texts, layers {', '.join(map(str, self.layers))})"


def pool_texts(rows: Float32Array, sizes: Sequence[int], recipe: Recipe) -> Float32Array:
    """Mixed rows of texts that lie one after the other, [pieces, dim], as [texts, dim]."""
    if recipe.pool == "none":
        raise InvalidArgumentError(
            "the pool none leaves no vector of a text: ask for pieces instead"
        )
    return recipe.pooled(rows, group_bounds(sizes))


def _in_words(text: Tokenized) -> Int64Array:
    return np.flatnonzero(text.words != SPECIAL)


def _word_bounds(text: Tokenized) -> Int64Array:
    return group_bounds(text.word_stops - text.word_starts)
