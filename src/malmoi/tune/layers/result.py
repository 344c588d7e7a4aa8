"""LayerResult: what each layer of a model is worth for a task, and the learned weights."""

from dataclasses import dataclass
from pathlib import Path

from malmoi.encode.pooling.layer_pooling import softmax
from malmoi.encode.pooling.recipes import Recipe
from malmoi.evaluate.scores import Score
from malmoi.evaluate.suites.differences import Difference
from malmoi.table import Table, Tabular

CARD = """\
# {name}

The weighted sum of all layers of {model}, with weights learned for {data} by malmoi.

```python
import malmoi as mm

encoder = mm.load_encoder("{name}")
vectors = encoder.encode(["A text.", "Another text."])
```

## Scores

{title}

{table}

{sentence}.
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class LayerResult(Tabular):
    """Layer weights for a labelled set, and the accuracy of each layer on its test part.

    `recipe` has the learned weights s (before the softmax) and the scale γ. `layers` are the
    accuracies of each layer alone, `average` that of their mean, `learned` that of the recipe; a
    logistic regression classifies by each. `difference` is `learned` minus the best single layer.
    """

    model: str
    name: str
    recipe: Recipe
    layers: tuple[Score, ...]
    average: Score
    learned: Score
    difference: Difference
    classes: tuple[str, ...]
    train_texts: int
    test_texts: int
    repeats: int
    seconds: float

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of each layer in the weighted sum: s after the softmax."""
        return tuple(softmax(self.recipe.weights, len(self.recipe.weights)).tolist())

    @property
    def best_layer(self) -> int:
        """The layer that classifies best alone."""
        values = [score.value or 0.0 for score in self.layers]
        return values.index(max(values))

    @property
    def sentence(self) -> str:
        """Whether the learned weights are better than the best single layer."""
        each = self.difference
        low, high = 100 * each.low, 100 * each.high
        verdict = {"no difference": "no different from"}.get(each.verdict, f"{each.verdict} than")
        return (
            f"learned weights are {verdict} layer {self.best_layer} alone"
            f" ({100 * each.value:+.2f} [{low:+.2f}, {high:+.2f}])"
        )

    def __repr__(self) -> str:
        return f"{self._table().text()}\n{self.sentence}"

    def _table(self) -> Table:
        title = (
            f"{Path(self.model).name} on {self.name}: {self.train_texts:,} texts to learn from,"
            f" {self.test_texts:,} to test on, {len(self.classes)} classes"
        )
        named = [(str(i), share) for i, share in enumerate(self.shares)]
        rows: list[tuple[str, float | None, str, str]] = [
            (name, round(share, 3), *_cells(score))
            for (name, share), score in zip(named, self.layers, strict=True)
        ]
        rows.append(("mean of all", None, *_cells(self.average)))
        rows.append((f"learned, γ = {self.recipe.scale:.3g}", None, *_cells(self.learned)))
        return Table(title, ["layer", "share", "accuracy", "95 %"], rows)


def recipe_card(result: LayerResult, name: str) -> str:
    """The README.md of a folder with the learned recipe."""
    table = result._table()
    lines = [f"| {' | '.join(table.header)} |", "|---|--:|--:|---|"]
    lines += [f"| {' | '.join('' if c is None else str(c) for c in row)} |" for row in table.rows]
    return CARD.format(
        name=name,
        model=result.model,
        data=result.name,
        title=table.title,
        table="\n".join(lines),
        sentence=f"{result.sentence[0].upper()}{result.sentence[1:]}",
    )


def _cells(score: Score) -> tuple[str, str]:
    value, low, high = (100 * (number or 0.0) for number in (score.value, score.low, score.high))
    return f"{value:.2f}", f"{low:.1f} … {high:.1f}"
