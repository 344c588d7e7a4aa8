"""Tasks over texts with labels: classification by a linear probe, and clustering."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.evaluate.scores import seeded_generator
from malmoi.evaluate.suites.logistic_regression import fit_probe
from malmoi.evaluate.suites.statistics import MacroF1, MeanValue, VMeasure
from malmoi.evaluate.suites.task import (
    SAMPLE_SEED,
    Embed,
    Language,
    Measure,
    TaskKind,
    check_enough,
    numbered,
    sample,
)
from malmoi.nearest.k_means import find_clusters

STARTS = 4  # k-means runs; the one with the smallest distances counts


class LabelledText(NamedTuple):
    """A text and its class."""

    text: str
    label: str


@dataclass(frozen=True)
class ClassificationTask:
    """How well a linear probe on the vectors of one half of the texts classifies the other."""

    name: str
    language: Language
    texts: tuple[LabelledText, ...] = field(repr=False)
    kind: TaskKind = "classification"

    def limited(self, texts: int) -> Self:
        """The task with at most this many texts, for training and testing together."""
        return replace(self, texts=tuple(sample(self.texts, texts)))

    def measure(self, embed: Embed) -> list[Measure]:
        """`accuracy` and `f1` (macro) on the half that the probe was not trained on."""
        classes = numbered(one.label for one in self.texts)
        check_enough(self.name, len(set(classes.tolist())), 2, "classes")
        order = seeded_generator(SAMPLE_SEED).permutation(len(classes))
        train, test = order[: len(order) // 2], order[len(order) // 2 :]
        known = np.unique(classes[train])
        test = test[np.isin(classes[test], known)]
        check_enough(self.name, len(known), 2, "classes in half of its texts")
        check_enough(self.name, len(test), 1, "texts to test on")
        matrix = embed([one.text for one in self.texts])
        probe = fit_probe(matrix[train], np.searchsorted(known, classes[train]))
        predicted = known[probe.predict(matrix[test])]
        hits = (predicted == classes[test]).astype(np.float64)
        return [
            Measure("accuracy", MeanValue(hits)),
            Measure("f1", MacroF1(classes[test], predicted)),
        ]


@dataclass(frozen=True)
class ClusteringTask:
    """How well k-means finds the labels of texts, with as many clusters as there are labels."""

    name: str
    language: Language
    texts: tuple[LabelledText, ...] = field(repr=False)
    kind: TaskKind = "clustering"

    def limited(self, texts: int) -> Self:
        """The task with at most this many texts."""
        return replace(self, texts=tuple(sample(self.texts, texts)))

    def measure(self, embed: Embed) -> list[Measure]:
        """`v_measure`."""
        classes = numbered(one.label for one in self.texts)
        count = len(set(classes.tolist()))
        check_enough(self.name, count, 2, "labels")
        clusters = best_clusters(embed([one.text for one in self.texts]), count)
        return [Measure("v_measure", VMeasure(classes, clusters), is_biased=True)]


def best_clusters(matrix: Float32Array, count: int) -> Int64Array:
    """The clusters of the k-means run with the smallest sum of squared distances."""
    found = []
    for seed in range(STARTS):
        which, centres = find_clusters(matrix, count, seed=seed)
        found.append((float(((matrix - centres[which]) ** 2).sum(dtype=np.float64)), seed, which))
    return min(found)[2].astype(np.int64)
