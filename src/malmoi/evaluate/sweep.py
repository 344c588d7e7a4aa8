"""Which layer, mixed and pooled how, comes closest to people's judgement: all of them at once.

What has the same cosines is tried once: `mean_sqrt` points where `mean` does; the mean of
layers, and layers weighted equally, point where their sum does; `first` with special tokens is
`cls`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.encode.bulk.recipe_sweep import stream_recipes
from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.pooling.groups import Pool
from malmoi.encode.pooling.layer_pooling import LayerPooling
from malmoi.encode.pooling.layers import choose_layers
from malmoi.encode.pooling.recipes import Recipe
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.scores import Score, correlation, spearman
from malmoi.evaluate.sentences import pair_cosines
from malmoi.evaluate.sets.sentence_sets import SentenceSet, read_sentences
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter

MIXTURES: tuple[tuple[str, LayerPooling], ...] = (
    ("-4:", "sum"),
    ("-4:", "concat"),
    ("0,-1", "sum"),
    ("all", "sum"),
)
POOLINGS: tuple[tuple[Pool, bool], ...] = (  # and whether special tokens count
    ("cls", True),
    ("mean", True),
    ("max", True),
    ("last", True),
    ("mean", False),
    ("max", False),
    ("first", False),
    ("last", False),
)


@dataclass(frozen=True)
class Sweep:
    """Spearman's correlation by every recipe: `recipes` and `values` are [rows][columns].

    A row is a layer or a mixture, a column a way of pooling. A value is None where it is
    undefined: [CLS] is the same in every text before the first layer.
    """

    name: str
    recipes: tuple[tuple[Recipe, ...], ...]
    values: tuple[tuple[float | None, ...], ...]
    best: tuple[int, int]
    best_score: Score

    @property
    def best_recipe(self) -> Recipe:
        """The one with the highest value, on this test."""
        return self.recipes[self.best[0]][self.best[1]]


def sweep_recipes(
    encoder: TransformerEncoder,
    pairs: SentenceSet | str | Path,
    *,
    columns: Sequence[str] | None = None,
    seed: int = 0,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Sweep:
    """Try every layer and some mixtures, pooled every way, on pairs that people have judged.

    The figure of the best is a little too good: it was chosen on these pairs. Measure it on
    others.
    """
    asked = read_sentences(pairs, columns)
    recipes = recipes_of(encoder.config.num_states)
    flat = [recipe for row in recipes for recipe in row]
    texts = [text for pair in asked.pairs for text in pair[:2]]
    parts: list[list[Float64Array]] = [[] for _ in flat]
    progress, done = reporter.stage("embedding", "texts"), 0
    for chunk in stream_recipes(encoder, texts, flat, reporter=reporter):
        for part, rows in zip(parts, chunk, strict=True):
            part.append(pair_cosines(rows[0::2], rows[1::2]))
        done += len(chunk[0])
        progress(done, len(texts))
    scores = np.array([pair.score for pair in asked.pairs])
    cosines = [np.nan_to_num(np.concatenate(part), nan=0.0) for part in parts]
    values = [spearman(each, scores) for each in cosines]
    known = [(value, -i) for i, value in enumerate(values) if value is not None]
    if not known:
        raise InvalidArgumentError(
            f"{asked.name} has no correlation with anything: its scores are the same"
        )
    best = -max(known)[1]  # of equals the first, which is the simplest
    width = len(POOLINGS)
    return Sweep(
        asked.name,
        recipes,
        tuple(tuple(values[first : first + width]) for first in range(0, len(values), width)),
        divmod(best, width),
        correlation(cosines[best], scores, len(scores), seed),
    )


def recipes_of(states: int) -> tuple[tuple[Recipe, ...], ...]:
    """A row a layer and a row a mixture, for a model of so many states."""
    mixtures: dict[object, tuple[int | str, LayerPooling]] = {
        ((layer,), "single"): (layer, "single") for layer in range(states)
    }
    for layers, mix in MIXTURES:
        mixtures.setdefault((choose_layers(layers, states), mix), (layers, mix))
    return tuple(
        tuple(
            Recipe(layers=layers, layer_pooling=mix, pool=pool, include_special_tokens=special)
            for pool, special in POOLINGS
        )
        for layers, mix in mixtures.values()
    )
