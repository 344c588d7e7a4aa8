"""Recipes: which layers to use, and how to pool layers and tokens; some have a name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from malmoi.arrays import Float32Array
from malmoi.encode.pooling.groups import POOLS, Pool
from malmoi.encode.pooling.layer_pooling import LAYER_POOLINGS, LayerPooling, pool_layers
from malmoi.encode.pooling.layers import Layers
from malmoi.errors import InvalidArgumentError

MAX_SCALE = 1e30  # float32 ends at 3e38


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How hidden states become a vector.

    Args:
        layers: The hidden states: a number, several, a range such as "-4:", or "all".
        layer_pooling: How several layers become one: single, sum, mean, concat or weighted.
        pool: How the tokens of a text become one vector: cls, mean, max, mean_sqrt, first, last,
            or none.
        include_special_tokens: Whether [CLS] and [SEP], or <S> and </S> of ELMo, are pooled too;
            by default those of transformers are, those of ELMo only for pool="cls".
        weights: For layer_pooling="weighted": one weight per layer, before the softmax.
        scale: For layer_pooling="weighted": a factor for the weighted sum.
        normalize: Whether to scale the vector of a text to length 1.

    Raises:
        InvalidArgumentError: A value is unknown, or values contradict each other.
    """

    layers: Layers = -1
    layer_pooling: LayerPooling = "single"
    pool: Pool = "mean"
    include_special_tokens: bool | None = None
    weights: tuple[float, ...] = ()
    scale: float = 1.0
    normalize: bool = False

    def __post_init__(self) -> None:
        if self.layer_pooling not in LAYER_POOLINGS:
            known = ", ".join(LAYER_POOLINGS)
            raise InvalidArgumentError(
                f"layer_pooling must be one of {known}; got '{self.layer_pooling}'"
            )
        if self.pool not in POOLS:
            raise InvalidArgumentError(f"pool must be one of {', '.join(POOLS)}; got '{self.pool}'")
        if self.pool == "cls" and self.include_special_tokens is False:
            raise InvalidArgumentError(
                "pool='cls' is a special token: it needs include_special_tokens=True"
            )
        if self.layer_pooling != "weighted" and (self.weights or self.scale != 1):
            raise InvalidArgumentError(
                f"weights and scale need layer_pooling='weighted', not '{self.layer_pooling}'"
            )
        self._check_weights()

    def _check_weights(self) -> None:
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
        if abs(self.scale) > MAX_SCALE:
            raise InvalidArgumentError(
                f"scale {self.scale:g} is beyond ±{MAX_SCALE:g}: vectors would overflow"
            )

    def pools_special_tokens(self, by_default: bool) -> bool:
        """Whether special tokens are pooled, of a model that does so `by_default` or not."""
        if self.include_special_tokens is None:
            return by_default or self.pool == "cls"
        return self.include_special_tokens

    def pool_layers(self, layers: Sequence[Float32Array]) -> Float32Array:
        """Layers, each [tokens, dim], as one, [tokens, dim]."""
        return pool_layers(layers, self.layer_pooling, weights=self.weights, scale=self.scale)


RECIPES = {
    "bert-as-service": Recipe(layers=-2, pool="mean"),
    "last-four-sum": Recipe(layers="-4:", layer_pooling="sum"),
    "last-four-concat": Recipe(layers="-4:", layer_pooling="concat"),
}


def choose_recipe(
    recipe: Recipe | str | None = None,
    *,
    layers: Layers | None = None,
    layer_pooling: LayerPooling | None = None,
    pool: Pool | None = None,
) -> Recipe:
    """A recipe, or the one with this name, or the default one, with some fields replaced."""
    if isinstance(recipe, str) and recipe not in RECIPES:
        raise InvalidArgumentError(f"recipe must be one of {', '.join(RECIPES)}; got '{recipe}'")
    base = RECIPES[recipe] if isinstance(recipe, str) else recipe or Recipe()
    return _with_fields(base, {"layers": layers, "layer_pooling": layer_pooling, "pool": pool})


def requested_recipe(recipe: str | None = None, **fields: Any) -> Recipe | None:
    """The recipe of a command or request: a name and fields of `Recipe`, each None if not given.

    If nothing is given, it is None: the model's own recipe.
    """
    if recipe is None and all(value is None for value in fields.values()):
        return None
    return _with_fields(choose_recipe(recipe), fields)


def _with_fields(recipe: Recipe, fields: Mapping[str, Any]) -> Recipe:
    """The recipe with those fields replaced that are not None."""
    return replace(recipe, **{name: value for name, value in fields.items() if value is not None})
