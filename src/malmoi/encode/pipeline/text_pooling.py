"""Pools the hidden states of a batch into one vector per text, whole or in windows.

All vectors of texts are made here: those of encoders, activations, recipe sweeps and the server.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from malmoi.arrays import BoolArray, Float32Array, Int64Array
from malmoi.encode.checkpoint.sentence_transformers import SentenceModules
from malmoi.encode.pooling.groups import (
    Pool,
    combine_parts,
    group_bounds,
    pool_groups,
    pool_parts,
)
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.tokens.windows import Window
from malmoi.errors import InvalidArgumentError
from malmoi.vectors import l2_normalize


@dataclass(frozen=True, eq=False)
class TokenRows:
    """Rows [tokens, dim] of the texts of a batch, whose encodings have a special_tokens_mask."""

    rows: Float32Array
    encodings: Sequence[Any]

    def groups(self, include_special_tokens: bool) -> tuple[Float32Array, Int64Array]:
        """The rows to pool, and the bounds of the texts among them."""
        return self._all if include_special_tokens else self._without_special

    @cached_property
    def _all(self) -> tuple[Float32Array, Int64Array]:
        return self.rows, group_bounds([len(encoding) for encoding in self.encodings])

    @cached_property
    def _without_special(self) -> tuple[Float32Array, Int64Array]:
        masks = [np.equal(encoding.special_tokens_mask, 0) for encoding in self.encodings]
        return self.rows[np.concatenate(masks)], group_bounds([int(mask.sum()) for mask in masks])


@dataclass(frozen=True, eq=False)
class Pooling:
    """Pools layers, then tokens in one or several ways side by side, then applies `finish`."""

    pool_layers: Callable[[Sequence[Float32Array]], Float32Array]
    pools: tuple[Pool, ...]
    include_special_tokens: bool
    finish: Callable[[Float32Array], Float32Array]

    def __call__(self, states: Sequence[Float32Array], encodings: Sequence[Any]) -> Float32Array:
        """One vector per text of a batch, [texts, dim]."""
        return self.pool_tokens(TokenRows(self.pool_layers(states), encodings))

    def pool_tokens(self, tokens: TokenRows) -> Float32Array:
        """The same from pooled layers."""
        rows, bounds = tokens.groups(self.include_special_tokens)
        pooled = [pool_groups(rows, bounds, pool) for pool in self.pools]
        return self.finish(np.concatenate(pooled, axis=1))

    def pool_windows(self, states: Sequence[Float32Array], windows: list[Window]) -> Float32Array:
        """The part of each window of a batch in its text's vector, [windows, dim]."""
        masks = [self._kept(window) for window in windows]
        rows = self.pool_layers(states)[np.concatenate(masks)]
        bounds = group_bounds([int(mask.sum()) for mask in masks])
        return np.concatenate([pool_parts(rows, bounds, pool) for pool in self.pools], axis=1)

    def combine_windows(
        self, parts: Float32Array, windows: Sequence[Window], counts: Sequence[int]
    ) -> Float32Array:
        """One vector per text, [texts, dim]; `counts` are the numbers of windows of the texts."""
        bounds = group_bounds(counts)
        kept = np.array([int(self._kept(window).sum()) for window in windows])
        sizes = np.array([kept[first:stop].sum() for first, stop in pairwise(bounds)])
        each = zip(np.split(parts, len(self.pools), axis=1), self.pools, strict=True)
        pooled = [combine_parts(part, bounds, sizes, pool) for part, pool in each]
        return self.finish(np.concatenate(pooled, axis=1))

    def _kept(self, window: Window) -> BoolArray:
        """Which tokens of a window are pooled, [tokens]."""
        mask = np.zeros(len(window), np.bool_)
        mask[window.kept] = True
        return mask if self.include_special_tokens else mask & (window.special_tokens_mask == 0)


def model_pooling(modules: SentenceModules) -> Pooling:
    """The pooling that a model folder defines."""
    return Pooling(lambda states: states[0], modules.pools, True, modules.finish)


def recipe_pooling(recipe: Recipe, special_by_default: bool = True) -> Pooling:
    """The pooling of a recipe, for a model that pools special tokens by default or does not."""
    if recipe.pool == "none":
        raise InvalidArgumentError("pool='none' gives one vector per token: use per='token'")
    finish = l2_normalize if recipe.normalize else _unchanged
    special = recipe.pools_special_tokens(special_by_default)
    return Pooling(recipe.pool_layers, (recipe.pool,), special, finish)


def _unchanged(vectors: Float32Array) -> Float32Array:
    return vectors
