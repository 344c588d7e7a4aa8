"""What workers do: texts through a model, words through vectors, or anything one by one.

Equal works go together in a batch. Knows nothing of HTTP.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.encoder import TransformerEncoder, split_states
from malmoi.encode.pooling.groups import group_bounds
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.protocol import Encoder
from malmoi.encode.runtime.run_batches import Then, run_batch
from malmoi.nearest.top_k import Metric
from malmoi.query.neighbours import neighbours
from malmoi.reporting.reporter import OovExplanation, Reporter
from malmoi.vectors import Vectors


@dataclass(frozen=True)
class OutputSpec:
    """What is made of a text's states: a vector, by a recipe or the folder's own, or nothing.

    `layers` are the states it needs, numbered from 0.
    """

    layers: tuple[int, ...]
    recipe: Recipe | None = None
    pooled: bool = True

    @property
    def width(self) -> int:
        """How many times a model's numbers are held for each text or piece."""
        mixed = self.pooled and (self.recipe is None or self.recipe.mix != "concat")
        return 1 if mixed else len(self.layers)

    def then(self, encoder: TransformerEncoder) -> Then[Float32Array]:
        """How it is made."""
        return encoder.pooling(self.recipe) if self.pooled else split_states


@dataclass(frozen=True)
class TokenizedItem:
    """A text that was cut, on its way into a model."""

    encoding: Any
    ending: OutputSpec


@dataclass(frozen=True)
class TransformerJob:
    """Texts through a model that gives these states, whatever is then made of each text's."""

    encoder: TransformerEncoder
    layers: tuple[int, ...]

    def run(self, items: Sequence[TokenizedItem], threads: int) -> list[Float32Array]:
        """A vector a text, or states [layers, pieces, dim]."""
        encodings = [item.encoding for item in items]
        states = run_batch(
            self.encoder.engine, self.encoder.config, encodings, self.layers, threads
        )
        endings: dict[OutputSpec, list[int]] = {}
        for place, item in enumerate(items):
            endings.setdefault(item.ending, []).append(place)
        bounds = group_bounds([len(encoding) for encoding in encodings])
        answers: list[Float32Array | None] = [None] * len(items)
        for ending, places in endings.items():
            wanted = [states[self.layers.index(layer)] for layer in ending.layers]
            if len(endings) > 1:
                rows = np.concatenate([np.arange(bounds[i], bounds[i + 1]) for i in places])
                wanted = [state[rows] for state in wanted]
            texts = [encodings[place] for place in places]
            for place, answer in zip(places, ending.then(self.encoder)(wanted, texts), strict=True):
                answers[place] = answer
        return answers  # type: ignore[return-value]


@dataclass(frozen=True)
class EncoderJob:
    """Texts through an encoder that has no layers to choose from."""

    encoder: Encoder

    def run(self, items: Sequence[str], threads: int) -> list[Float32Array]:
        """A vector a text."""
        return list(self.encoder.encode(items))


class ExplanationRecorder(Reporter):
    """Records the explanations of words that have no row of their own."""

    def __init__(self) -> None:
        self.explanations: list[OovExplanation] = []

    def out_of_vocabulary(self, explanation: OovExplanation) -> None:
        """Record the explanation of one word."""
        self.explanations.append(explanation)


@dataclass(frozen=True)
class WordAnswer:
    """An answer to words, and where those without a row of their own got their vectors."""

    found: Any
    readings: tuple[OovExplanation, ...]


@dataclass(frozen=True)
class NeighboursJob:
    """The nearest words to each word."""

    vectors: Vectors
    k: int
    metric: Metric

    def run(self, items: Sequence[str], threads: int) -> list[WordAnswer]:
        """The neighbours of each word."""
        reporter = ExplanationRecorder()
        results = neighbours(self.vectors, items, self.k, metric=self.metric, reporter=reporter)
        explanations = {one.word: one for one in reporter.explanations}
        return [
            WordAnswer(near, (explanations[word],) if word in explanations else ())
            for word, near in zip(items, results, strict=True)
        ]


@dataclass(frozen=True)
class CallJob:
    """Questions that gain nothing from being asked together."""

    def run(self, items: Sequence[Callable[[], Any]], threads: int) -> list[Any]:
        """An answer a question, or why there is none."""
        return [attempt(item) for item in items]


def explained(ask: Callable[[Reporter], Any]) -> Callable[[], WordAnswer]:
    """A query that returns the explanations of its words with the answer."""

    def query() -> WordAnswer:
        reporter = ExplanationRecorder()
        return WordAnswer(ask(reporter), tuple(reporter.explanations))

    return query


def attempt(question: Callable[[], Any]) -> Any:
    """An answer, or the exception instead of it."""
    try:
        return question()
    except Exception as error:
        return error
