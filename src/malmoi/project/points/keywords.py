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
    totals = sum(inside, Counter[str]())
    vocabulary = sorted(word for word, seen in totals.items() if seen >= MIN_TEXTS)
    prior = np.array([totals[word] for word in vocabulary], dtype=np.float64) / 10
    names = []
    for cluster in clusters:
        inside_counts = np.array([inside[cluster][word] for word in vocabulary], dtype=np.float64)
        outside_counts = prior * 10 - inside_counts
        scores = _log_odds(inside_counts + prior, outside_counts + prior)
        best = [at for at in np.argsort(-scores, kind="stable")[:count] if inside_counts[at]]
        names.append(", ".join(vocabulary[at] for at in best) or f"sense {cluster + 1}")
    return names


def _log_odds(inside: Float64Array, outside: Float64Array) -> Float64Array:
    """The log-odds of each word inside the cluster against outside, in standard errors."""
    odds = np.log(inside / np.maximum(inside.sum() - inside, 1)) - np.log(
        outside / np.maximum(outside.sum() - outside, 1)
    )
    scores: Float64Array = odds / np.sqrt(1 / inside + 1 / outside)
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
