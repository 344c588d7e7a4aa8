"""Sweeps over layers and poolings: which recipe correlates best with human judgements.

Recipes with the same cosines are tried once: `mean_sqrt` has the direction of `mean`; the mean of
layers and equally weighted layers have that of their sum; `first` with special tokens is `cls`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.encode.bulk.recipe_sweep import stream_recipes
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder, expect_contextual
from malmoi.encode.pooling.groups import Pool
from malmoi.encode.pooling.layer_pooling import LayerPooling
from malmoi.encode.pooling.layers import choose_layers
from malmoi.encode.pooling.recipes import Recipe
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.scores import Score, correlation, spearman
from malmoi.evaluate.sentences import pair_cosines
from malmoi.evaluate.sets.sentence_sets import PairSource, read_sentences
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.table import Table, Tabular

COMBINATIONS: tuple[tuple[str, LayerPooling], ...] = (
    ("-4:", "sum"),
    ("-4:", "concat"),
    ("0,-1", "sum"),
    ("all", "sum"),
)
POOLINGS: tuple[tuple[Pool, bool], ...] = (  # and whether special tokens are pooled
    ("cls", True),
    ("mean", True),
    ("max", True),
    ("last", True),
    ("mean", False),
    ("max", False),
    ("first", False),
    ("last", False),
)


@dataclass(frozen=True, repr=False)
class Sweep(Tabular):
    """Spearman's correlation of every recipe: `recipes` and `values` are [rows][columns].

    Rows are layers and combinations of layers, columns are poolings. A value is None where the
    correlation is undefined: before the first layer, [CLS] is the same in every text.
    """

    name: str
    recipes: tuple[tuple[Recipe, ...], ...]
    values: tuple[tuple[float | None, ...], ...]
    best: tuple[int, int]
    best_score: Score

    @property
    def best_recipe(self) -> Recipe:
        """The recipe with the highest value on this set."""
        return self.recipes[self.best[0]][self.best[1]]

    def __repr__(self) -> str:
        tried = sum(map(len, self.recipes))
        return f"Sweep({self.name}, {tried} recipes, best={self.best_recipe}: {self.best_score})"

    def _table(self) -> Table:
        header = [
            f"{one.pool}{'' if one.include_special_tokens else '*'}" for one in self.recipes[0]
        ]
        rows = [
            (f"{row[0].layers} {row[0].layer_pooling}", *values)
            for row, values in zip(self.recipes, self.values, strict=True)
        ]
        best = self.best_recipe
        title = (
            f"Spearman on {self.name} by layers and pooling (* without special tokens); best:"
            f" {best.layers} {best.layer_pooling}, {header[self.best[1]]},"
            f" {self.best_score.cells[0]:.3f}"
        )
        return Table(title, ["layers", *header], rows)


def sweep_recipes(
    encoder: ContextualEncoder,
    pairs: PairSource,
    *,
    columns: Sequence[str] | None = None,
    seed: int = 0,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Sweep:
    """Try every layer and some combinations of layers, with every pooling, on judged pairs.

    The score of the best recipe is a little too high, because it was chosen on these pairs:
    measure it on others.

    Args:
        encoder: A transformer or an ELMo model; see `load_contextual`.
        pairs: Pairs of texts with scores, or a file of them.
        columns: The names of the file's columns: two texts and a score.
        seed: For the confidence interval of the best recipe.
        reporter: Gets the progress.

    Returns:
        The correlations of all recipes.

    Raises:
        InvalidArgumentError: All scores are the same.
        InvalidFileError: The file cannot be read.

    Example:
        pairs = mm.SentenceSet.of(
            ["A man plays a guitar.", "The bank was closed.", "Snow fell all night."],
            ["A man is playing the guitar.", "A boat on the bank.", "It snowed until morning."],
            [1.0, 0.1, 0.9],
        )
        sweep = mm.sweep_recipes(mm.load_transformer("minilm"), pairs)
    """
    expect_reporter(reporter)
    expect_contextual(encoder)
    sentences = read_sentences(pairs, columns)
    recipes = recipes_of(encoder.config.num_states)
    flat = [recipe for row in recipes for recipe in row]
    texts = [text for pair in sentences.pairs for text in pair[:2]]
    parts: list[list[Float64Array]] = [[] for _ in flat]
    progress, done = reporter.stage("embedding", "texts"), 0
    for chunk in stream_recipes(encoder, texts, flat, reporter=reporter):
        for part, rows in zip(parts, chunk, strict=True):
            part.append(pair_cosines(rows[0::2], rows[1::2]))
        done += len(chunk[0])
        progress(done, len(texts))
    scores = np.array([pair.score for pair in sentences.pairs])
    cosines = [np.nan_to_num(np.concatenate(part), nan=0.0) for part in parts]
    values = [spearman(each, scores) for each in cosines]
    known = [(value, -i) for i, value in enumerate(values) if value is not None]
    if not known:
        raise InvalidArgumentError(
            f"{sentences.name} has no correlation with anything: its scores are the same"
        )
    best = -max(known)[1]  # of equals the first, which is the simplest
    width = len(POOLINGS)
    return Sweep(
        sentences.name,
        recipes,
        tuple(tuple(values[first : first + width]) for first in range(0, len(values), width)),
        divmod(best, width),
        correlation(cosines[best], scores, len(scores), seed),
    )


def recipes_of(states: int) -> tuple[tuple[Recipe, ...], ...]:
    """One row per layer and per combination of layers, for a model with this many states."""
    rows: dict[object, tuple[int | str, LayerPooling]] = {
        ((layer,), "single"): (layer, "single") for layer in range(states)
    }
    for layers, pooling in COMBINATIONS:
        rows.setdefault((choose_layers(layers, states), pooling), (layers, pooling))
    return tuple(
        tuple(
            Recipe(layers=layers, layer_pooling=pooling, pool=pool, include_special_tokens=special)
            for pool, special in POOLINGS
        )
        for layers, pooling in rows.values()
    )
