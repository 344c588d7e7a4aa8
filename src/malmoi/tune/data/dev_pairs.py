"""DevPairs: the dev score of a tuning, Spearman's correlation of cosines with human scores."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Float32Array, Float64Array, Int64Array
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.scores import spearman
from malmoi.evaluate.sentences import pair_cosines
from malmoi.train.common.loop import DevScore


@dataclass(frozen=True, eq=False)
class DevPairs:
    """Pairs of texts, known by their numbers, with scores; `vectors` encodes texts as they are now.

    The details of a score are the cosines of the pairs.
    """

    texts: Int64Array  # [pairs, 2]
    scores: Float64Array  # [pairs]
    vectors: Callable[[Int64Array], Float32Array]

    def measure(self) -> DevScore:
        """Spearman's correlation now.

        Raises:
            InvalidArgumentError: All scores, or all cosines, are the same.
        """
        texts, rows = np.unique(self.texts, return_inverse=True)
        vectors, pairs = self.vectors(texts), rows.reshape(-1, 2)
        cosines = np.nan_to_num(pair_cosines(vectors[pairs[:, 0]], vectors[pairs[:, 1]]))
        score = spearman(cosines, self.scores)
        if score is None:
            raise InvalidArgumentError(
                "Spearman's correlation on the dev set is undefined: pass pairs with different"
                " scores"
            )
        return DevScore(score, cosines)

    def show(self, value: float) -> str:
        """Spearman's correlation in percent."""
        return f"{100 * value:.2f}"
