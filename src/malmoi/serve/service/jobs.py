"""Jobs: texts through a model or a classifier, words through vectors, or calls one by one.

Tasks with equal jobs share a batch. Knows nothing of HTTP.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array, Float64Array
from malmoi.classify.base.classifier import Classifier
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder
from malmoi.encode.pipeline.text_pipeline import split_states
from malmoi.encode.pooling.groups import group_bounds
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.protocol import Encoder
from malmoi.encode.runtime.batches import Finish
from malmoi.nearest.top_k import Metric
from malmoi.query.neighbours import neighbours
from malmoi.reporting.reporter import OovExplanation, Reporter
from malmoi.serve.service.request_context import RequestReporter
from malmoi.vectors import Vectors


@dataclass(frozen=True)
class OutputSpec:
    """What a request needs of the hidden states: pooled vectors, or the states themselves.

    `layers` are the hidden states, numbered from 0; `recipe` is the model's own if it is `None`.
    """

    layers: tuple[int, ...]
    recipe: Recipe | None = None
    pooled: bool = True

    @property
    def num_states(self) -> int:
        """How many vectors of the model's width are kept per text or token."""
        mixed = self.pooled and (self.recipe is None or self.recipe.layer_pooling != "concat")
        return 1 if mixed else len(self.layers)

    def then(self, encoder: ContextualEncoder) -> Finish[Float32Array]:
        """The function that makes the output of a batch from its hidden states."""
        return encoder.pooling(self.recipe) if self.pooled else split_states


@dataclass(frozen=True)
class TokenizedItem:
    """A tokenized text in the queue of a model."""

    encoding: Any
    output: OutputSpec


@dataclass(frozen=True)
class TransformerJob:
    """Tokenized texts through a transformer that returns the hidden states `layers`.

    Texts with different outputs share a batch.
    """

    encoder: ContextualEncoder
    layers: tuple[int, ...]

    def run(self, items: Sequence[TokenizedItem], threads: int) -> list[Float32Array]:
        """Return one vector per text, or its states [layers, tokens, dim]."""
        encodings = [item.encoding for item in items]
        states = self.encoder.pipeline.run_batch(encodings, self.layers, threads)
        indices_by_output: dict[OutputSpec, list[int]] = {}
        for index, item in enumerate(items):
            indices_by_output.setdefault(item.output, []).append(index)
        bounds = group_bounds([len(encoding) for encoding in encodings])
        results: list[Float32Array | None] = [None] * len(items)
        for output, indices in indices_by_output.items():
            chosen = [states[self.layers.index(layer)] for layer in output.layers]
            if len(indices_by_output) > 1:
                rows = np.concatenate([np.arange(bounds[i], bounds[i + 1]) for i in indices])
                chosen = [state[rows] for state in chosen]
            texts = [encodings[index] for index in indices]
            outputs = output.then(self.encoder)(chosen, texts)
            for index, result in zip(indices, outputs, strict=True):
                results[index] = result
        return results  # type: ignore[return-value]


@dataclass(frozen=True)
class EncodedText:
    """The vector of one text, and what the encoder reported of it."""

    vector: Float32Array
    is_truncated: bool
    is_fragmented: bool


@dataclass(frozen=True)
class EncoderJob:
    """Texts through an encoder without layers: averaged word vectors, or `use`."""

    encoder: Encoder

    def run(self, items: Sequence[str], threads: int) -> list[EncodedText]:
        """Encode each text."""
        reporter = RequestReporter()
        vectors = self.encoder.encode(items, reporter=reporter)
        truncated, fragmented = set(reporter.truncated), set(reporter.fragmented)
        return [
            EncodedText(vector, index in truncated, index in fragmented)
            for index, vector in enumerate(vectors)
        ]


@dataclass(frozen=True)
class ClassifierJob:
    """Texts through a classifier."""

    classifier: Classifier

    def run(self, items: Sequence[str], threads: int) -> list[Float64Array]:
        """Return the probability of each label, [labels], for each text."""
        return list(self.classifier.probabilities(items))


class ExplanationRecorder(Reporter):
    """Records the explanations of words that have no row of their own."""

    def __init__(self) -> None:
        self.explanations: list[OovExplanation] = []

    def out_of_vocabulary(self, explanation: OovExplanation) -> None:
        """Record the explanation of one word."""
        self.explanations.append(explanation)


@dataclass(frozen=True)
class WordAnswer:
    """The answer to a word query, and where words without a row got their vectors from."""

    value: Any
    explanations: tuple[OovExplanation, ...]


@dataclass(frozen=True)
class NeighboursJob:
    """Nearest neighbours of words."""

    vectors: Vectors
    k: int
    metric: Metric

    def run(self, items: Sequence[str], threads: int) -> list[WordAnswer]:
        """Find the neighbours of each word."""
        reporter = ExplanationRecorder()
        rankings = neighbours(self.vectors, items, self.k, metric=self.metric, reporter=reporter)
        explanations = {one.word: one for one in reporter.explanations}
        return [
            WordAnswer(ranking, (explanations[word],) if word in explanations else ())
            for word, ranking in zip(items, rankings, strict=True)
        ]


@dataclass(frozen=True)
class CallJob:
    """Functions that gain nothing from a batch; each is called by itself."""

    def run(self, items: Sequence[Callable[[], Any]], threads: int) -> list[Any]:
        """Call each function; an exception is the result of its own call alone."""
        return [call_or_error(item) for item in items]


def with_explanations(query: Callable[[Reporter], Any]) -> Callable[[], WordAnswer]:
    """A function for `CallJob` that keeps the explanations of the words with the answer."""

    def call() -> WordAnswer:
        reporter = ExplanationRecorder()
        return WordAnswer(query(reporter), tuple(reporter.explanations))

    return call


def call_or_error(call: Callable[[], Any]) -> Any:
    """The result of a call, or its exception."""
    try:
        return call()
    except Exception as error:
        return error
