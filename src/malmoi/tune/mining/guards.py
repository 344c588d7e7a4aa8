"""Guards against false negatives: which candidates are not negatives of a query, and why.

Knows nothing of encoders.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from malmoi.errors import shorten
from malmoi.tune.mining.settings import MiningSettings
from malmoi.unicode import normalize

TRIGRAM = 3  # characters
MAX_SHOWN = 60  # characters of an example
Rule = tuple[str, Callable[[str, float], bool]]  # a reason, and whether it excludes a candidate


@dataclass
class SkippedCandidates:
    """How many candidates were skipped for each reason, with one example."""

    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add(self, reason: str, query: str, text: str) -> None:
        """Count one more candidate of a query."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        self.examples.setdefault(reason, (shorten(query, MAX_SHOWN), shorten(text, MAX_SHOWN)))


def margin_limit(positive: float, settings: MiningSettings) -> float:
    """The highest score of a negative beside a positive with this score."""
    limits = [float("inf")]
    if settings.absolute_margin is not None:
        limits.append(positive - settings.absolute_margin)
    if settings.relative_margin is not None:
        limits.append(positive - abs(positive) * settings.relative_margin)
    return min(limits)


def make_rules(
    settings: MiningSettings,
    positives: Iterable[str],
    score: float,
    *,
    judge: Callable[[str], float] | None = None,
    judged: float = 0.0,
) -> list[Rule]:
    """The rules of one query, first to last; `score` is the lowest of its positives.

    `judge` scores a candidate by a second encoder, and `judged` is the lowest score of the
    positives by it.
    """
    own = list(positives)
    texts, folded = {*own}, {fold(text) for text in own}
    absolute, relative = settings.absolute_margin, settings.relative_margin
    rules: list[Rule] = [("a positive of the query", lambda text, _: text in texts)]
    if (share := settings.near_duplicates) is not None:
        rules.append(("equal to a positive but for case and spaces",
                      lambda text, _: fold(text) in folded))  # fmt: skip
        rules.append(("a near-duplicate of a positive",
                      lambda text, _: any(is_near(text, one, share) for one in own)))  # fmt: skip
    if absolute is not None:
        rules.append(("within the absolute margin", lambda _, each: each + absolute > score))
    if relative is not None:
        limit = score - abs(score) * relative
        rules.append(("within the relative margin", lambda _, each: each > limit))
    if (highest := settings.max_score) is not None:
        rules.append(("above max_score", lambda _, each: each > highest))
    if (lowest := settings.min_score) is not None:
        rules.append(("below min_score", lambda _, each: each < lowest))
    if judge is not None:
        rules.append(("within the margin by the judge",
                      lambda text, _: judge(text) > margin_limit(judged, settings)))  # fmt: skip
    return rules


def fold(text: str) -> str:
    """A text without differences of case, width and spaces."""
    return "".join(normalize("NFKC", text).casefold().split())


def is_near(one: str, other: str, share: float) -> bool:
    """Whether two texts of similar length have at least this share of trigrams in common."""
    short, long = sorted((len(one), len(other)))  # most pairs differ here: trigrams cost more
    return short >= share * long and overlap(one, other) >= share


def overlap(one: str, other: str) -> float:
    """The share of character trigrams that two texts have in common (Jaccard)."""
    first, second = trigrams(one), trigrams(other)
    either = len(first | second)
    return len(first & second) / either if either else 1.0


@lru_cache(maxsize=512)
def trigrams(text: str) -> frozenset[str]:
    """The character trigrams of a folded text; all of it where it is shorter."""
    folded = fold(text)
    if len(folded) <= TRIGRAM:
        return frozenset([folded] if folded else [])
    return frozenset(folded[i : i + TRIGRAM] for i in range(len(folded) - TRIGRAM + 1))
