"""Explains any classifier: how the odds of a label fall when a word is left out."""

import re
from math import log

from malmoi.arguments import expect
from malmoi.classify.base.classifier import Classifier
from malmoi.classify.base.explanation import WORD, ClassExplanation, Contribution

FLOOR = 1e-5  # added to probabilities before their logarithms are taken


def explain_by_occlusion(
    classifier: Classifier, text: str, word: re.Pattern[str] = WORD
) -> ClassExplanation:
    """Each word speaks for the label that loses most without it; all its occurrences are left out.

    Contributions are differences of log odds, and do not add up to anything. Log probabilities
    would hide what speaks for a label that is nearly certain.
    """
    expect(text, str, "text", "one text")
    spans: dict[str, list[tuple[int, int]]] = {}
    for match in word.finditer(text):
        spans.setdefault(match[0], []).append(match.span())
    others = [" ".join(one for one in word.findall(text) if one != left_out) for left_out in spans]
    whole, *without = classifier.probabilities([text, *others])
    best, parts = int(whole.argmax()), []
    for (part, own), row in zip(spans.items(), without, strict=True):
        label = int((whole - row).argmax())
        value = _log_odds(whole[label]) - _log_odds(row[label])
        parts.append(
            Contribution(part=part, label=classifier.labels[label], value=value, spans=tuple(own))
        )
    return ClassExplanation(
        text=text,
        label=classifier.labels[best],
        probability=float(whole[best]),
        bias=0.0,
        contributions=tuple(sorted(parts, key=lambda one: -one.value)),
    )


def _log_odds(probability: float) -> float:
    return log((probability + FLOOR) / (max(1 - probability, 0.0) + FLOOR))
