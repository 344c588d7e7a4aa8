"""NetworkClassifier: a network on embeddings that labels texts. Imports torch when it is used."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from malmoi.arrays import Float64Array
from malmoi.classify.base.trained_classifier import TrainedClassifier
from malmoi.classify.networks.settings import NetworkShape
from malmoi.classify.networks.units import FIRST_ROW, EmbeddingUnits
from malmoi.errors import InvalidArgumentError
from malmoi.extras import require
from malmoi.files.tensors import Tensors
from malmoi.text.tokenizers import describe
from malmoi.vectors import Vectors

if TYPE_CHECKING:
    from malmoi.classify.networks.network import EmbeddingNetwork

EMBEDDING = "embedding"  # the name of its weights


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NetworkClassifier(TrainedClassifier):
    """A network on embeddings, as `train_classifier` makes it.

    `weights` are those of all layers by name; rows 0 and 1 of the embedding are those of padding
    and of unknown units.
    """

    units: EmbeddingUnits
    shape: NetworkShape
    weights: Tensors

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shape.outputs != self.num_outputs:
            raise InvalidArgumentError(
                f"{self.shape.outputs} outputs do not fit {len(self.labels)} labels"
            )
        if self.shape.rows != len(self.units.keys) + FIRST_ROW:
            raise InvalidArgumentError(
                f"{self.shape.rows} embeddings do not fit {len(self.units.keys)} units"
            )

    @cached_property
    def vectors(self) -> Vectors:
        """The trained embeddings of words, characters or jamo, most frequent first."""
        tokenizer = self.units.tokenizer
        meta = {"model": f"{self.shape.network} classifier"}
        if tokenizer is not None:
            meta["tokenizer"] = describe(tokenizer)
        return Vectors(self.units.keys, self.weights[EMBEDDING][FIRST_ROW:], meta=meta)

    def raw_scores(self, texts: Sequence[str]) -> Float64Array:
        """Scores [texts, outputs] before they are divided by the temperature."""
        from malmoi.classify.networks.trainer import network_scores

        return network_scores(self.network, self.units.ids(texts))

    @cached_property
    def network(self) -> "EmbeddingNetwork":
        """The network, with its weights."""
        require("torch", extra="train")
        from malmoi.classify.networks.network import loaded_network

        return loaded_network(self.shape, self.weights)

    def describe(self) -> dict[str, str]:
        """Facts about the classifier for people.

        Returns:
            Names and values.
        """
        shape, count = self.shape, sum(weight.size for weight in self.weights.values())
        return {
            "kind": f"{shape.network} on embeddings of {self.units.kind}",
            "labels": f"{len(self.labels):,}: {', '.join(self.labels)}",
            "embeddings": f"{len(self.units.keys):,} of {shape.dim} dimensions",
            "weights": f"{count:,}",
            "temperature": f"{self.temperature:.3f}",
            **self.metadata,
        }
