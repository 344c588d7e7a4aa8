"""The report of a comparison as Markdown: for a README, an issue or a terminal."""

import re
from collections.abc import Iterable, Sequence

from malmoi.classify.compare.result import PERCENT, Comparison, ModelScores, readable_size

MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&])")
HEADER = (
    "model",
    "kind",
    "accuracy %",
    "95 %",
    "macro-F1",
    "against the best",
    "CPU s to train",
    "texts/s",
    "size",
)


def markdown_report(comparison: Comparison) -> str:
    """The recommendation, the table of models, learning curves, and the recommended one."""
    parts = [
        f"# {escaped(comparison.data)}: classifiers compared",
        escaped(comparison.sentence),
        _table(HEADER, (_row(one) for one in comparison.models)),
        *_curves(comparison),
    ]
    for one in comparison.models:
        if one.name == comparison.recommended:
            parts += _about_model(one, comparison.labels)
    if comparison.notes:
        parts += ["## About the data", _list(comparison.notes)]
    if comparison.failed:
        rows = ((escaped(name), escaped(why)) for name, why in comparison.failed)
        parts += ["## Models without scores", _table(("model", "why"), rows)]
    parts += ["## How it was measured", _list(_measured(comparison))]
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """A text on one line, with nothing in it that is markup."""
    return MARKUP.sub(r"\\\1", " ".join(text.split()))


def _row(one: ModelScores) -> tuple[str, ...]:
    value, low, high = one.accuracy.value, one.accuracy.low, one.accuracy.high
    return (
        escaped(one.name),
        escaped(one.kind),
        "–" if value is None else f"{PERCENT * value:.2f}",
        "" if low is None or high is None else f"{PERCENT * low:.1f}–{PERCENT * high:.1f}",
        f"{PERCENT * one.macro_f1:.2f}",
        _against_best(one),
        f"{one.train_cpu_seconds:,.1f}",
        f"{one.texts_per_second:,.0f}",
        readable_size(one.size),
    )


def _against_best(one: ModelScores) -> str:
    if one.difference is None:
        return "the best"
    verdict = "within noise" if one.is_as_good_as_the_best else "worse"
    return f"{PERCENT * one.difference.value:+.2f}, {verdict}"


def _curves(comparison: Comparison) -> list[str]:
    """The accuracy by the number of training texts."""
    counts = sorted({point.texts for one in comparison.models for point in one.curve})
    if len(counts) < 2:
        return []
    rows = []
    for one in comparison.models:
        by_texts = {point.texts: f"{PERCENT * point.accuracy:.2f}" for point in one.curve}
        rows.append((escaped(one.name), *(by_texts.get(count, "") for count in counts)))
    header = ("model", *(f"{count:,} texts" for count in counts))
    return ["## Learning curves (accuracy %)", _table(header, rows)]


def _about_model(one: ModelScores, labels: Sequence[str]) -> list[str]:
    scores = (
        (
            escaped(each.label),
            *(f"{PERCENT * value:.1f}" for value in (each.precision, each.recall, each.f1)),
            f"{each.texts:,}",
        )
        for each in one.labels
    )
    header: tuple[str, ...] = ("label", "precision %", "recall %", "F1 %", "texts")
    parts = [f"## {escaped(one.name)} by label", _table(header, scores)]
    if one.confusion and len(labels) <= 12:
        counts = (
            (escaped(label), *(f"{count:,}" for count in row))
            for label, row in zip(labels, one.confusion, strict=True)
        )
        header = ("label ＼ classified as", *(escaped(label) for label in labels))
        parts += ["### Confusion matrix", _table(header, counts)]
    if one.mistakes:
        rows = (
            (
                escaped(each.text),
                escaped(each.label),
                f"{escaped(each.predicted)}, {PERCENT * each.probability:.0f} %",
                ", ".join(
                    f"‘{escaped(part)}’" for part, label, _ in each.parts if label == each.predicted
                ),
            )
            for each in one.mistakes
        )
        header = ("text", "label", "classified as", "because of")
        parts += ["### Most confident mistakes", _table(header, rows)]
    return parts


def _measured(comparison: Comparison) -> list[str]:
    several = ", several per text" if comparison.multi_label else ""
    return [
        f"{comparison.train_texts:,} texts to train, {comparison.test_texts:,} to test per seed",
        f"{len(comparison.labels):,} labels{several}",
        f"seeds {', '.join(map(str, comparison.seeds))}",
        f"{comparison.machine}, {comparison.seconds:,.0f} s",
    ]


def _list(texts: Iterable[str]) -> str:
    return "\n".join(f"- {escaped(text)}" for text in texts)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
