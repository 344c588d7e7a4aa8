"""Recipes: which layers, mixed how, pooled how; some are known by a name."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.pooling.groups import POOLS, Pool, pool_groups
from malmoi.encode.pooling.layers import Layers
from malmoi.encode.pooling.mixing import MIXES, Mix, mix_layers
from malmoi.errors import InvalidArgumentError
from malmoi.vectors import l2_normalize

LARGEST_SCALE = 1e30  # float32 ends at 3e38

LARGEST_SCALE = 1e30  # float32 ends at 3e38


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How hidden states become a vector.

    `special` says whether [CLS] and [SEP] count among the pieces; `weights` (one a layer) and
    `scale` belong to the mix `weighted`; `normalize` makes the vector of a text of length 1.
    """

    layers: Layers = -1
    mix: Mix = "single"
    pool: Pool = "mean"
    special: bool = True
    weights: tuple[float, ...] = ()
    scale: float = 1.0
    normalize: bool = False

    def __post_init__(self) -> None:
        if self.mix not in MIXES:
            raise InvalidArgumentError(
                f"there is no mix '{self.mix}': choose one of {', '.join(MIXES)}"
            )
        if self.pool not in POOLS:
            raise InvalidArgumentError(
                f"there is no pool '{self.pool}': choose one of {', '.join(POOLS)}"
            )
        if self.pool == "cls" and not self.special:
            raise InvalidArgumentError(
                "the pool cls is the first special piece: it cannot leave these out"
            )
        if self.mix != "weighted" and (self.weights or self.scale != 1):
            raise InvalidArgumentError(
                f"weights and scale are for the mix weighted, not for {self.mix}"
            )
        try:
            finite = all(map(isfinite, (*self.weights, self.scale)))
        except OverflowError as error:
            raise InvalidArgumentError(
                "a weight or the scale has too many digits for a float"
            ) from error
        if not finite:
            raise InvalidArgumentError(
                f"the weights {self.weights} with scale {self.scale} are not finite"
            )
        if abs(self.scale) > LARGEST_SCALE:
            raise InvalidArgumentError(
                f"the scale {self.scale:g} is beyond ±{LARGEST_SCALE:g}: vectors would overflow"
            )

    def mixed(self, layers: Sequence[Float32Array]) -> Float32Array:
        """The layers as one, [pieces, dim]."""
        return mix_layers(layers, self.mix, weights=self.weights, scale=self.scale)

    def pooled(self, rows: Float32Array, bounds: Int64Array) -> Float32Array:
        """Mixed pieces as [groups, dim]."""
        pooled = pool_groups(rows, bounds, self.pool)
        return l2_normalize(pooled) if self.normalize else pooled


RECIPES = {
    "bert-as-service": Recipe(layers=-2, pool="mean"),
    "last-four-sum": Recipe(layers="-4:", mix="sum"),
    "last-four-concat": Recipe(layers="-4:", mix="concat"),
}


def choose_recipe(
    recipe: Recipe | str | None = None,
    *,
    layers: Layers | None = None,
    mix: Mix | None = None,
    pool: Pool | None = None,
) -> Recipe:
    """A recipe by its name (or the plain one), with the parts that are given changed."""
    if isinstance(recipe, str) and recipe not in RECIPES:
        raise InvalidArgumentError(
            f"there is no recipe '{recipe}': choose one of {', '.join(RECIPES)}"
        )
    chosen = RECIPES[recipe] if isinstance(recipe, str) else recipe or Recipe()
    parts = {"layers": layers, "mix": mix, "pool": pool}
    return replace(chosen, **{name: part for name, part in parts.items() if part is not None})  # type: ignore[arg-type]
