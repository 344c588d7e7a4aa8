"""The dev set of an adaptation: a search in a BEIR folder, or pairs of texts with scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from malmoi.arrays import Float32Array, Float64Array, Int32Array, Int64Array
from malmoi.encode.encoder import TransformerEncoder
from malmoi.evaluate.scores import Score, correlation, mean
from malmoi.evaluate.sets.sentence_sets import PairSource, read_sentences
from malmoi.evaluate.suites.differences import compare_means
from malmoi.train.common.loop import DevMeasure
from malmoi.tune.adapt.dev_retrieval import read_dev_retrieval
from malmoi.tune.adapt.passages import tokenize
from malmoi.tune.adapt.settings import AdaptSettings
from malmoi.tune.data.dev_pairs import DevPairs
from malmoi.tune.result import Difference, compare

Encode = Callable[[Sequence[Int32Array]], Float32Array]


@dataclass(frozen=True, eq=False, kw_only=True)
class DevSet:
    """How an adaptation is measured; `gold` are the scores of pairs, None for a search."""

    measure: DevMeasure
    metric: str
    title: str
    digest: str
    gold: Float64Array | None

    def score(self, details: Float64Array) -> Score:
        """The score of details with its interval."""
        if self.gold is None:
            return mean(details, len(details))
        return correlation(details, self.gold, len(details))

    def difference(self, before: Float64Array, after: Float64Array) -> Difference | None:
        """The difference of two details with its interval."""
        if self.gold is None:
            return compare_means(before, after)
        return compare(before, after, self.gold)


def open_dev_set(
    source: PairSource, settings: AdaptSettings, encoder: TransformerEncoder, encode: Encode
) -> DevSet:
    """A BEIR folder, or pairs; `encode` gives the vectors of the network as it is now.

    Raises:
        InvalidFileError: A file is missing or damaged.
        InvalidArgumentError: There are no pairs, or no query has judgements.
    """
    if isinstance(source, str | Path) and Path(source).is_dir():
        search = read_dev_retrieval(
            Path(source), settings.dev_split, settings.dev_documents, encoder, encode
        )
        digest = _digest([*search.documents, *search.queries])
        return DevSet(
            measure=search, metric="nDCG@10", title=search.title, digest=digest, gold=None
        )
    pairs = read_sentences(source).pairs
    texts = dict.fromkeys(text for pair in pairs for text in pair[:2])
    numbers = {text: number for number, text in enumerate(texts)}
    ids = tokenize(encoder, list(texts))
    sides = np.array([[numbers[one], numbers[other]] for one, other, _ in pairs], np.int64)
    gold = np.array([pair.score for pair in pairs])

    def vectors(some: Int64Array) -> Float32Array:
        return encode([ids[i] for i in some])

    return DevSet(
        measure=DevPairs(sides, gold, vectors),
        metric="Spearman",
        title=f"{len(pairs):,} pairs",
        digest=_digest([*ids, sides, gold]),
        gold=gold,
    )


def _digest(arrays: Sequence[Int32Array | Int64Array | Float64Array]) -> str:
    digest = blake2b(digest_size=16)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.hexdigest()
