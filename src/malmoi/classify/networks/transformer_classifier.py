"""TransformerClassifier: a fine-tuned transformer with a linear layer that labels texts.

Runs on the engine of encoders; does not import torch.
"""

import shutil
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from malmoi.arrays import Float32Array, Float64Array
from malmoi.classify.base.trained_classifier import TrainedClassifier
from malmoi.encode.encoder import TransformerEncoder
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import SilentReporter
from malmoi.unicode import normalize

SILENT = SilentReporter()


class UnsavedFolder:
    """A temporary folder for the files of an encoder; it is removed with the last classifier."""

    def __init__(self) -> None:
        self.path = Path(mkdtemp(prefix="malmoi-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TransformerClassifier(TrainedClassifier):
    """A fine-tuned transformer, as `train_classifier` makes it.

    Scores are `head_weight` [outputs, dim] times the vector of a text, plus `head_bias` [outputs].
    `unsaved` holds the files of the encoder until the classifier is saved.
    """

    encoder: TransformerEncoder
    head_weight: Float32Array
    head_bias: Float32Array
    unsaved: UnsavedFolder | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        expected = (self.num_outputs, self.encoder.dim)
        if self.head_weight.shape != expected or self.head_bias.shape != expected[:1]:
            raise InvalidArgumentError(
                f"its linear layer is {list(self.head_weight.shape)}: {len(self.labels)} labels"
                f" and vectors of {self.encoder.dim} dimensions need {list(expected)}"
            )

    def raw_scores(self, texts: Sequence[str]) -> Float64Array:
        """Scores [texts, outputs] before they are divided by the temperature."""
        vectors = self.encoder.encode([normalize("NFC", text) for text in texts], reporter=SILENT)
        scores: Float64Array = vectors.astype(np.float64) @ self.head_weight.T + self.head_bias
        return scores

    def describe(self) -> dict[str, str]:
        """Facts about the classifier for people.

        Returns:
            Names and values.
        """
        config = self.encoder.config
        return {
            "kind": "fine-tuned transformer",
            "labels": f"{len(self.labels):,}: {', '.join(self.labels)}",
            "layers": f"{config.layers} of {config.dim} dimensions",
            "longest text": f"{self.encoder.tokenizer.max_length} tokens",
            "temperature": f"{self.temperature:.3f}",
            **self.metadata,
        }
