"""FastTextClassifier: a supervised model of fastText, with its own labels and probabilities.

The score of a label is its output row times the mean of a text's rows. fastText adds 1e-5 to each
probability (to take its logarithm) and looks sigmoids up in a table of 512 numbers; both are done
here too, so that probabilities are its own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from malmoi.arrays import BoolArray, Float64Array
from malmoi.classify.base.calibration import to_probabilities
from malmoi.classify.base.classifier import Classifier
from malmoi.classify.base.explanation import ClassExplanation
from malmoi.classify.base.occlusion import explain_by_occlusion
from malmoi.classify.fasttext.fasttext_features import TOKEN, FastTextFeatures
from malmoi.formats.fasttext.supervised_model import SupervisedModel
from malmoi.text_inputs import TextLike, strings

ADDED = 1e-5  # to each probability
TABLE, LIMIT = 512, 8.0  # of the sigmoid
BATCH = 1024  # texts
HIERARCHICAL = "hierarchical softmax"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FastTextClassifier(Classifier):
    """A supervised model of fastText, as `load_classifier` opens it."""

    model: SupervisedModel

    @property
    def uses_softmax(self) -> bool:
        """Whether the scores of labels compete."""
        return self.model.loss in ("softmax", HIERARCHICAL)

    def describe(self) -> dict[str, str]:
        """Facts about the classifier for people.

        Returns:
            Names and values.
        """
        model = self.model
        return {
            "kind": "fastText, supervised",
            "labels": f"{len(self.labels):,}: {', '.join(self.labels)}",
            "words": f"{len(model.words):,}",
            "n-grams": f"{model.min_n} to {model.max_n} characters" if model.max_n else "none",
            "word n-grams": f"up to {model.word_ngrams} words",
            "rows": f"{len(model.word_rows) + len(model.bucket_rows):,} × {model.output.shape[1]}",
            "outputs": model.loss,
        }

    def probabilities(self, texts: Iterable[TextLike]) -> Float64Array:
        """The probability of each label, as fastText reports it: 1e-5 more than its share.

        Args:
            texts: The texts; a line break separates words like a blank.

        Returns:
            Numbers, float64 [texts, labels]; 0 for a text without known words and n-grams.
        """
        given = list(strings(texts))
        if not given:
            return np.zeros((0, len(self.labels)))
        hidden, has = self._hidden(given)
        if self.model.loss == HIERARCHICAL:
            shares = self._paths(hidden)
        else:
            scores = hidden @ self.model.output.T.astype(np.float64)
            if self.uses_softmax:
                shares = to_probabilities(scores, softmax=True) + ADDED
            else:
                shares = _table_sigmoid(scores) + ADDED
        return np.where(has[:, np.newaxis], shares, 0.0)

    def explain(self, text: str) -> ClassExplanation:
        """Which words of a text speak for which label: how its log probability falls without them.

        Args:
            text: One text.

        Returns:
            The label, its probability, and the contribution of each word.
        """
        return explain_by_occlusion(self, text, TOKEN)

    @cached_property
    def _features(self) -> FastTextFeatures:
        return FastTextFeatures(self.model)

    def _tokens(self, text: str) -> list[bytes]:
        return self._features.tokens(text)

    def _scores(self, texts: Sequence[str]) -> Float64Array:
        raise NotImplementedError  # probabilities are fastText's own

    def _hidden(self, texts: Sequence[str]) -> tuple[Float64Array, BoolArray]:
        """The mean of each text's rows, [texts, dim], and whether it has any."""
        hidden = np.zeros((len(texts), self.model.output.shape[1]))
        counts = np.zeros(len(texts), np.int64)
        for first in range(0, len(texts), BATCH):
            batch = [self._tokens(text) for text in texts[first : first + BATCH]]
            distinct = {token: 0 for tokens in batch for token in tokens}
            numbers = {token: i for i, token in enumerate(distinct)}
            sums, sizes = self._features.sums(list(numbers))
            for i, tokens in enumerate(batch, first):
                own = [numbers[token] for token in tokens]
                hidden[i], counts[i] = sums[own].sum(axis=0), sizes[own].sum()
                if self.model.word_ngrams > 1 and self.model.buckets:
                    more, count = self._features.word_ngram_sum(tokens)
                    hidden[i] += more
                    counts[i] += count
        return hidden / np.maximum(counts, 1)[:, np.newaxis], counts > 0

    def _paths(self, hidden: Float64Array) -> Float64Array:
        """The probability of each label: the product of the turns on its path in the tree."""
        turns = to_probabilities(hidden @ self.model.output.T.astype(np.float64), softmax=False)
        right, left = np.log(turns + ADDED), np.log(1 - turns + ADDED)
        logs = np.zeros((len(hidden), len(self.labels)))
        for label, path in enumerate(self._tree):
            for node, goes_right in path:
                logs[:, label] += (right if goes_right else left)[:, node]
        return np.exp(logs)

    @cached_property
    def _tree(self) -> list[list[tuple[int, bool]]]:
        """The inner nodes on the way to each label and the turn at each, by fastText's rules."""
        labels = len(self.labels)
        counts = [int(count) for count in self.model.label_counts] + [10**15] * (labels - 1)
        parents, goes_right = [-1] * len(counts), [False] * len(counts)
        leaf, node = labels - 1, labels
        for parent in range(labels, len(counts)):
            pair = []
            for _ in range(2):
                if leaf >= 0 and counts[leaf] < counts[node]:
                    pair.append(leaf)
                    leaf -= 1
                else:
                    pair.append(node)
                    node += 1
            counts[parent] = counts[pair[0]] + counts[pair[1]]
            parents[pair[0]] = parents[pair[1]] = parent
            goes_right[pair[1]] = True
        paths = []
        for label in range(labels):
            path, at = list[tuple[int, bool]](), label
            while parents[at] >= 0:
                path.append((parents[at] - labels, goes_right[at]))
                at = parents[at]
            paths.append(path)
        return paths


def _table_sigmoid(scores: Float64Array) -> Float64Array:
    """The sigmoid as fastText looks it up."""
    steps = np.arange(TABLE + 1) * (2 * LIMIT) / TABLE - LIMIT
    table = 1 / (1 + np.exp(-steps))
    index = (np.clip(scores, -LIMIT, LIMIT) + LIMIT) * TABLE / LIMIT / 2
    inside: Float64Array = table[index.astype(np.int64)]
    return np.where(scores < -LIMIT, 0.0, np.where(scores > LIMIT, 1.0, inside))
