"""Keywords of clusters of texts: the words that are typical of one cluster against the others."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from malmoi.arrays import Float64Array, Int32Array
from malmoi.errors import MissingDependencyError
from malmoi.text.korean import Korean

WORD = re.compile(r"[^\W\d_]{2,}")
HANGUL = re.compile("[가-힣]")
KEYWORDS_PER_CLUSTER = 3
MIN_TEXTS = 2  # texts that must contain a keyword


def cluster_keywords(
    texts: Sequence[str],
    which: Int32Array,
    *,
    leave_out: Collection[str] = (),
    count: int = KEYWORDS_PER_CLUSTER,
) -> list[str]:
    """A name for each cluster of texts: the words most typical of it, most typical first.

    Words are ranked by the log-odds of occurring in a text of the cluster, divided by their
    standard error, with the words of all texts as prior (Monroe, Colaresi & Quinn 2008).
    """
    words = _words(texts, {_normalize(word) for word in leave_out})
    clusters = range(int(which.max()) + 1)
    inside = [Counter[str]() for _ in clusters]
    for cluster, text_words in zip(which.tolist(), words, strict=True):
        inside[cluster].update(text_words)
    every = sum(inside, Counter[str]())
    vocabulary = sorted(word for word, seen in every.items() if seen >= MIN_TEXTS)
    prior = np.array([every[word] for word in vocabulary], dtype=np.float64) / 10
    names = []
    for cluster in clusters:
        here = np.array([inside[cluster][word] for word in vocabulary], dtype=np.float64)
        there = prior * 10 - here
        scores = _log_odds(here + prior, there + prior)
        best = [at for at in np.argsort(-scores, kind="stable")[:count] if here[at]]
        names.append(", ".join(vocabulary[at] for at in best) or f"sense {cluster + 1}")
    return names


def _log_odds(here: Float64Array, there: Float64Array) -> Float64Array:
    """How much likelier each word is here than there, in standard errors."""
    odds = np.log(here / np.maximum(here.sum() - here, 1)) - np.log(
        there / np.maximum(there.sum() - there, 1)
    )
    scores: Float64Array = odds / np.sqrt(1 / here + 1 / there)
    return scores


def _words(texts: Sequence[str], leave_out: Collection[str]) -> list[set[str]]:
    """The set of words of each text; of Korean the nouns, if kiwipiepy is installed."""
    words = [set(WORD.findall(_normalize(text))) for text in texts]
    if sum(bool(HANGUL.search(text)) for text in texts) > len(texts) / 2:
        try:
            nouns = Korean(keep=("NN",)).many(unicodedata.normalize("NFC", text) for text in texts)
            words = [set(each) for each in nouns]
        except MissingDependencyError:
            pass  # keep words with their particles
    return [each.difference(leave_out) for each in words]


def _normalize(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()
