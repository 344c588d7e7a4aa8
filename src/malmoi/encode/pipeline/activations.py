"""Activations: the hidden states of texts, and vectors of texts, words and tokens from them."""

from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Float32Array, Int32Array, Int64Array
from malmoi.encode.pipeline.text_pooling import recipe_pooling
from malmoi.encode.pooling.groups import (
    WORD_POOLINGS,
    Pool,
    WordPooling,
    group_bounds,
    pool_groups,
)
from malmoi.encode.pooling.layer_pooling import LayerPooling
from malmoi.encode.pooling.layers import Layers, choose_layers
from malmoi.encode.pooling.recipes import Recipe, choose_recipe
from malmoi.encode.tokens.tokenized import SPECIAL, Tokenized
from malmoi.errors import InvalidArgumentError
from malmoi.table import HEAD, TEXT_COLUMNS, Table, Tabular, shortened


@dataclass(frozen=True, eq=False, repr=False)
class SpanVectors(Tabular):
    """The words or tokens of a text, each with its span and its vector.

    `offsets` [n, 2] are the start and end in characters of the text; 0, 0 for special tokens.
    """

    keys: tuple[str, ...]
    offsets: Int32Array
    matrix: Float32Array  # [n, dim]

    def __len__(self) -> int:
        return len(self.keys)

    def __repr__(self) -> str:
        return f"SpanVectors({shortened(' '.join(self.keys), TEXT_COLUMNS)}: {self._shape})"

    @property
    def _shape(self) -> str:
        return f"{len(self):,} × {self.matrix.shape[1]}"

    def _table(self) -> Table:
        spans = [f"{start}:{end}" for start, end in self.offsets[:HEAD].tolist()]
        rows = [
            (key, span, float(np.linalg.norm(row)))
            for key, span, row in zip(self.keys[:HEAD], spans, self.matrix[:HEAD], strict=True)
        ]
        header = ["key", "characters", "length of vector"]
        return Table(f"SpanVectors: {self._shape} dimensions", header, rows, len(self))


@dataclass(frozen=True, eq=False, repr=False)
class Activations(Tabular):
    """Hidden states: `states[i]` [layers, tokens, dim] belongs to `texts[i]`.

    `layers` are the numbers of these states; the model has `num_states`. Recipes pool special
    tokens too if the model does so by default, unless they say otherwise.
    """

    texts: tuple[Tokenized, ...]
    states: tuple[Float32Array, ...]
    layers: tuple[int, ...]
    num_states: int
    pools_special_tokens: bool = True

    def pooled(
        self,
        recipe: Recipe | str | None = None,
        *,
        layers: Layers | None = None,
        layer_pooling: LayerPooling | None = None,
        pool: Pool | None = None,
    ) -> Float32Array:
        """One vector per text.

        Args:
            recipe: A recipe or its name; by default the mean of the last layer.
            layers: The layers to use instead of the recipe's.
            layer_pooling: How to pool layers instead of the recipe's way.
            pool: How to pool tokens instead of the recipe's way.

        Returns:
            [texts, dim].

        Raises:
            InvalidArgumentError: The recipe is invalid or needs a layer that is not here.
        """
        chosen = choose_recipe(recipe, layers=layers, layer_pooling=layer_pooling, pool=pool)
        if not self.texts:
            return np.empty((0, 0), np.float32)
        indices = self._indices(chosen)
        states = [np.concatenate([state[i] for state in self.states]) for i in indices]
        return recipe_pooling(chosen, self.pools_special_tokens)(states, self.texts)

    def words(
        self,
        recipe: Recipe | str | None = None,
        *,
        layers: Layers | None = None,
        layer_pooling: LayerPooling | None = None,
        word_pooling: WordPooling = "mean",
    ) -> list[SpanVectors]:
        """The words of each text, with vectors pooled from their tokens.

        Args:
            recipe: A recipe or its name, of which only the layers are used.
            layers: The layers to use instead of the recipe's.
            layer_pooling: How to pool layers instead of the recipe's way.
            word_pooling: How the tokens of a word become one vector: mean, sum, first or last.

        Returns:
            One `SpanVectors` per text.

        Raises:
            InvalidArgumentError: An argument is invalid or needs a layer that is not here.
        """
        check_word_pooling(word_pooling)
        chosen = choose_recipe(recipe, layers=layers, layer_pooling=layer_pooling)
        return [
            SpanVectors(
                text.word_texts(),
                text.word_offsets,
                pool_groups(
                    self._rows(i, chosen)[_in_words(text)], _word_bounds(text), word_pooling
                ),
            )
            for i, text in enumerate(self.texts)
        ]

    def tokens(
        self,
        recipe: Recipe | str | None = None,
        *,
        layers: Layers | None = None,
        layer_pooling: LayerPooling | None = None,
    ) -> list[SpanVectors]:
        """The tokens of each text, including special ones unless the recipe excludes them.

        Args:
            recipe: A recipe or its name; its token pooling is not used.
            layers: The layers to use instead of the recipe's.
            layer_pooling: How to pool layers instead of the recipe's way.

        Returns:
            One `SpanVectors` per text.

        Raises:
            InvalidArgumentError: An argument is invalid or needs a layer that is not here.
        """
        chosen = choose_recipe(recipe, layers=layers, layer_pooling=layer_pooling)
        special = chosen.pools_special_tokens(self.pools_special_tokens)
        spans = []
        for i, text in enumerate(self.texts):
            kept = np.flatnonzero(~text.is_special | special)
            keys = tuple(text.tokens[token] for token in kept)
            spans.append(SpanVectors(keys, text.offsets[kept], self._rows(i, chosen)[kept]))
        return spans

    def _rows(self, i: int, recipe: Recipe) -> Float32Array:
        """The tokens of text i with pooled layers, [tokens, dim]."""
        return recipe.pool_layers([self.states[i][index] for index in self._indices(recipe)])

    def _indices(self, recipe: Recipe) -> list[int]:
        """Where the layers of a recipe are among these states."""
        indices = []
        for layer in choose_layers(recipe.layers, self.num_states):
            if layer not in self.layers:
                available = ", ".join(map(str, self.layers))
                raise InvalidArgumentError(
                    f"these activations do not contain layer {layer}, only {available}"
                )
            indices.append(self.layers.index(layer))
        return indices

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"Activations({len(self)} texts, layers {', '.join(map(str, self.layers))})"

    def _table(self) -> Table:
        dim = f" × {self.states[0].shape[2]} dimensions" if self.states else ""
        layers = ", ".join(map(str, self.layers))
        title = f"Activations: {len(self):,} texts, layers {layers} of {self.num_states}{dim}"
        rows = [(" ".join(text.tokens), len(text)) for text in self.texts[:HEAD]]
        return Table(title, ["tokens", "number of tokens"], rows, len(self))


def check_word_pooling(word_pooling: WordPooling) -> None:
    """Raise InvalidArgumentError for an unknown way of pooling words."""
    if word_pooling not in WORD_POOLINGS:
        known = ", ".join(WORD_POOLINGS)
        raise InvalidArgumentError(f"word_pooling must be one of {known}; got '{word_pooling}'")


def _in_words(text: Tokenized) -> Int64Array:
    return np.flatnonzero(text.word_ids != SPECIAL)


def _word_bounds(text: Tokenized) -> Int64Array:
    return group_bounds(text.word_stops - text.word_starts)
