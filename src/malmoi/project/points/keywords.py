"""Keywords of clusters of texts: the words that are typical of one cluster against the others."""

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from malmoi.arrays import Float64Array, Int32Array
from malmoi.project.points.content_words import content_words

KEYWORDS_PER_CLUSTER = 3
MIN_TEXTS = 2  # texts that must contain a keyword
MIN_SHARE = 0.02  # of the texts of a cluster that must contain its keyword
MAX_TEXTS = 4000  # texts that keywords are counted in
MAX_ENDING = 2  # letters by which two forms of one word may differ at the end


def cluster_keywords(
    texts: Sequence[str],
    which: Int32Array,
    *,
    leave_out: Collection[str] = (),
    count: int = KEYWORDS_PER_CLUSTER,
    unnamed: str = "sense",
) -> list[str]:
    """A name for each cluster of texts: the words most typical of it, most typical first.

    Words are ranked by the log-odds of occurring in a text of the cluster, divided by their
    standard error, with the words of all texts as prior (Monroe, Colaresi & Quinn 2008). A
    cluster without such a word is called `unnamed` with its number.
    """
    left_out = {_normalize(word) for word in leave_out}
    clusters = range(int(which.max()) + 1)
    inside = [Counter[str]() for _ in clusters]
    sampled = np.unique(np.linspace(0, len(texts) - 1, min(len(texts), MAX_TEXTS), dtype=np.int64))
    words = content_words([texts[at] for at in sampled.tolist()])
    sizes = np.bincount(which[sampled], minlength=len(inside))
    for cluster, text_words in zip(which[sampled].tolist(), words, strict=True):
        inside[cluster].update(text_words - left_out)
    totals = sum(inside, Counter[str]())
    vocabulary = sorted(word for word, seen in totals.items() if seen >= MIN_TEXTS)
    prior = np.array([totals[word] for word in vocabulary], dtype=np.float64) / 10
    names = []
    for cluster in clusters:
        inside_counts = np.array([inside[cluster][word] for word in vocabulary], dtype=np.float64)
        scores = _log_odds(inside_counts + prior, prior * 11 - inside_counts)
        order = np.argsort(-scores, kind="stable")
        needed = max(1, MIN_SHARE * sizes[cluster])
        best = (vocabulary[at] for at in order if inside_counts[at] >= needed and scores[at] > 0)
        names.append(", ".join(_distinct(best, count)) or f"{unnamed} {cluster + 1}")
    return _unique(names)


def _log_odds(inside: Float64Array, outside: Float64Array) -> Float64Array:
    """The log-odds of each word inside the cluster against outside, in standard errors."""
    odds = np.log(inside / np.maximum(inside.sum() - inside, 1)) - np.log(
        outside / np.maximum(outside.sum() - outside, 1)
    )
    scores: Float64Array = odds / np.sqrt(1 / inside + 1 / outside)
    return scores


def _distinct(words: Iterable[str], count: int) -> list[str]:
    """The first words, of which none is another with an ending: movie, but not movies too."""
    chosen: list[str] = []
    for word in words:
        if len(chosen) == count:
            break
        if not any(_are_forms(word, other) for other in chosen):
            chosen.append(word)
    return chosen


def _are_forms(word: str, other: str) -> bool:
    short, long = sorted((word, other), key=len)
    return long.startswith(short) and len(long) - len(short) <= MAX_ENDING


def _unique(names: list[str]) -> list[str]:
    """The names, with a number behind one that occurred before."""
    seen = Counter[str]()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def _normalize(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()
