"""Hidden states of a batch to vectors of its texts, whole ones or parts of long ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.sentence_transformers import SentenceModules
from malmoi.encode.pooling.groups import (
    Pool,
    group_bounds,
    pool_groups,
    pool_partly,
    pool_parts,
)
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.tokens.windows import Window
from malmoi.errors import InvalidArgumentError
from malmoi.vectors import l2_normalize


@dataclass(frozen=True, eq=False)
class Pooling:
    """Layers mixed, pieces pooled in each of these ways, side by side, then finished.

    `special` says whether special pieces count.
    """

    mixed: Callable[[Sequence[Float32Array]], Float32Array]
    pools: tuple[Pool, ...]
    special: bool
    finished: Callable[[Float32Array], Float32Array]

    def __call__(self, states: list[Float32Array], texts: list[Any]) -> Float32Array:
        """The vectors of the texts of a batch, [texts, dim]."""
        rows, sizes = self.mixed(states), [len(text) for text in texts]
        if not self.special:
            kept = [np.equal(text.special_tokens_mask, 0) for text in texts]
            rows, sizes = rows[np.concatenate(kept)], [int(keep.sum()) for keep in kept]
        bounds = group_bounds(sizes)
        pooled = [pool_groups(rows, bounds, how) for how in self.pools]
        return self.finished(np.concatenate(pooled, axis=1))

    def partly(self, states: list[Float32Array], windows: list[Window]) -> Float32Array:
        """What each window of a batch adds to its text, [windows, dim]."""
        kept = [self.kept(window) for window in windows]
        rows = self.mixed(states)[np.concatenate(kept)]
        bounds = group_bounds([int(keep.sum()) for keep in kept])
        return np.concatenate([pool_partly(rows, bounds, how) for how in self.pools], axis=1)

    def joined(
        self, parts: Float32Array, windows: Sequence[Window], counts: Sequence[int]
    ) -> Float32Array:
        """The vectors of texts that have so many windows each, [texts, dim]."""
        bounds = group_bounds(counts)
        kept = np.array([int(self.kept(window).sum()) for window in windows])
        sizes = np.array([kept[first:last].sum() for first, last in pairwise(bounds)])
        each = np.split(parts, len(self.pools), axis=1)
        ways = zip(each, self.pools, strict=True)
        pooled = [pool_parts(part, bounds, sizes, how) for part, how in ways]
        return self.finished(np.concatenate(pooled, axis=1))

    def kept(self, window: Window) -> Any:
        """Which pieces of a window count, [pieces]."""
        counts = np.zeros(len(window), np.bool_)
        counts[window.kept] = True
        return counts if self.special else counts & (window.special_tokens_mask == 0)


def own_pooling(modules: SentenceModules) -> Pooling:
    """What a model's folder asks for."""
    return Pooling(lambda states: states[0], modules.pools, True, modules.stepped)


def pooling_by(recipe: Recipe) -> Pooling:
    """What a recipe asks for."""
    if recipe.pool == "none":
        raise InvalidArgumentError(
            "the pool none leaves no vector of a text: ask for pieces instead"
        )
    finished = l2_normalize if recipe.normalize else _as_it_is
    return Pooling(recipe.mixed, (recipe.pool,), recipe.special, finished)


def _as_it_is(vectors: Float32Array) -> Float32Array:
    return vectors
