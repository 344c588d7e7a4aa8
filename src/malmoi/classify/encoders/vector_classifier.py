"""VectorClassifier: scores texts by the vectors of an encoder and a head that was trained on them.

The encoder is loaded when a text is classified for the first time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.classify.base.trained_classifier import TrainedClassifier
from malmoi.classify.encoders.head import Head
from malmoi.classify.encoders.text_vectors import TextVectors
from malmoi.errors import InvalidArgumentError

CHUNK_TEXTS = 1 << 16  # whose vectors are held at once


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class VectorClassifier(TrainedClassifier):
    """A head on the vectors of an encoder, as `train_classifier` makes it."""

    vectors: TextVectors
    head: Head

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.head.num_outputs != self.num_outputs:
            raise InvalidArgumentError(
                f"{self.head.num_outputs} outputs do not fit {len(self.labels)} labels"
            )
        if self.head.dim != self.vectors.dim:
            raise InvalidArgumentError(
                f"the head is for {self.head.dim} dimensions, the encoder has {self.vectors.dim}"
            )

    def describe(self) -> dict[str, str]:
        """Facts about the classifier for people.

        Returns:
            Names and values.
        """
        *hidden, _ = self.head.layers
        layers = "".join(f", {len(layer.bias)} hidden" for layer in hidden)
        return {
            "kind": "MLP on vectors" if hidden else "logistic regression on vectors",
            "labels": f"{len(self.labels):,}: {', '.join(self.labels)}",
            "encoder": f"{self.vectors.model}, {self.vectors.dim} dimensions{layers}",
            "outputs": "softmax" if self.uses_softmax else "a sigmoid for each label"
            if self.num_outputs > 1 else "one, of two classes",
            "temperature": f"{self.temperature:.3f}",
            **self.metadata,
        }  # fmt: skip

    def raw_scores(self, texts: Sequence[str]) -> Float64Array:
        """Scores [texts, outputs] before they are divided by the temperature."""
        parts = [
            self.head.scores(self.vectors(texts[first : first + CHUNK_TEXTS]))
            for first in range(0, len(texts), CHUNK_TEXTS)
        ]
        return np.concatenate([np.zeros((0, self.num_outputs)), *parts])
