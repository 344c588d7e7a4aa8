"""Examples to tune on: one or more columns of texts with scores, classes, or nothing else.

The kind of examples decides which objectives suit them. Rows that cannot be used are counted and
reported with their lines.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.sets.sentence_sets import SentenceSet
from malmoi.evaluate.sets.test_file import parse_number
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.tune.data.columns import ChosenColumns, choose_columns
from malmoi.tune.data.tables import DataSource, TableRows, read_table
from malmoi.tune.sentence.settings import ObjectiveName

ExampleKind = Literal[
    "scored pairs",
    "labelled pairs",
    "classified pairs",
    "pairs",
    "triplets",
    "scored triplets",
    "tuples",
    "classified texts",
    "texts",
]
FROM_LABELS: tuple[ObjectiveName, ...] = ("contrastive", "online_contrastive", "cosine", "cosent")
WITHOUT_LABELS: tuple[ObjectiveName, ...] = ("multiple_negatives", "triplet", "mse")
KINDS: dict[ExampleKind, tuple[str, tuple[ObjectiveName, ...]]] = {  # what it is, and what suits it
    "scored pairs": ("two texts and a number", ("cosine", "cosent")),
    "labelled pairs": ("two texts and 0 or 1", (*FROM_LABELS, "softmax")),
    "classified pairs": ("two texts and a class", ("softmax",)),
    "pairs": ("two texts", ("multiple_negatives", "mse")),
    "triplets": ("three texts", ("multiple_negatives", "triplet")),
    "tuples": ("a text, a positive and several negatives", ("multiple_negatives",)),
    "scored triplets": ("three texts and a number", ("margin_mse",)),
    "classified texts": ("one text and a class", FROM_LABELS),
    "texts": ("one text", ("mse",)),
}
TITLES: dict[ObjectiveName, str] = {
    "softmax": "siamese classification",
    "cosine": "cosine regression",
    "triplet": "triplet loss",
    "multiple_negatives": "multiple negatives ranking",
    "cosent": "CoSENT",
    "contrastive": "contrastive loss",
    "online_contrastive": "online contrastive loss",
    "margin_mse": "MarginMSE",
    "mse": "MSE to a teacher",
}
NO_CLASS = ("-", "-1", "")  # SNLI marks pairs without a majority so
NLI_NUMBERS = {0.0, 1.0, 2.0}


@dataclass(frozen=True, eq=False)
class ExampleSet:
    """Examples of one kind; labels are numbers, or the numbers of `classes`."""

    source: str  # a path, or what was passed
    name: str
    kind: ExampleKind
    texts: tuple[tuple[str, ...], ...]  # one tuple of texts per example
    labels: Float64Array  # [examples]; zeros where the kind has no labels
    objective: ObjectiveName
    classes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def title(self) -> str:
        """What the examples are, and their objective."""
        return f"{KINDS[self.kind][0]}: {TITLES[self.objective]}"


def read_examples(
    source: DataSource | SentenceSet,
    objective: ObjectiveName | None = None,
    *,
    columns: Sequence[str] = (),
    seed: int = 0,
    reporter: Reporter = DEFAULT_REPORTER,
) -> ExampleSet:
    """Examples from a file, a table, a list of tuples, or a set of scored pairs.

    Args:
        source: The examples.
        objective: The objective, if not that which suits the kind of examples best.
        columns: The columns of the texts and then of the label, where they cannot be detected.
        seed: Seed of the pairs that are made of texts with classes.
        reporter: Receives the detected kind, and the counts of rows that were skipped.

    Returns:
        The examples; pairs, where the rows are texts with classes.

    Raises:
        InvalidFileError: The file cannot be read or has no usable rows.
        InvalidArgumentError: The columns are ambiguous, or the objective does not suit them.
    """
    if isinstance(source, SentenceSet):
        source = [tuple(pair) for pair in source.pairs]
    may_have_label = objective not in WITHOUT_LABELS
    examples, described = read_rows(source, columns, reporter, may_have_label=may_have_label)
    known = KINDS[examples.kind][1]
    if objective is not None and objective not in known:
        raise InvalidArgumentError(
            f"{examples.source} has {KINDS[examples.kind][0]} per row, which objective"
            f" '{objective}' cannot use: choose {' or '.join(known)}"
        )
    examples = replace(examples, objective=objective or known[0])
    if objective is None:
        reporter.warn(f"{examples.source}: {examples.title} ({described})")
    if examples.kind == "classified texts":
        examples = make_pairs(examples, seed, reporter)
    return _scaled(examples, reporter)


def read_rows(
    source: DataSource,
    columns: Sequence[str],
    reporter: Reporter,
    *,
    may_have_label: bool = True,
) -> tuple[ExampleSet, str]:
    """The usable rows as they are, and the names of their columns."""
    table = read_table(source, reporter)
    chosen = choose_columns(table, columns, may_have_label=may_have_label)
    examples = _collect(table, chosen)
    table.skipped.report(table.source, reporter)
    if not len(examples):
        raise InvalidArgumentError(
            f"{table.source} has no usable rows: expected {KINDS[examples.kind][0]}"
        )
    return examples, chosen.describe(table)


def _collect(table: TableRows, chosen: ChosenColumns) -> ExampleSet:
    """The rows whose texts and label can be used."""
    rows = table.rows[chosen.first_row :]
    given = [] if chosen.label is None else [_field(fields, chosen.label) for _, fields in rows]
    kind, convert, classes = _labels(len(chosen.texts), given)
    texts: list[tuple[str, ...]] = []
    labels: list[float] = []
    for number, (line, fields) in enumerate(rows):
        own = tuple(str(_field(fields, column)).strip() for column in chosen.texts)
        is_text = [isinstance(_field(fields, column), str) for column in chosen.texts]
        label = convert(given[number]) if given else 0.0
        if not all(own) or not all(is_text):
            table.skipped.add("no text", line)
        elif label is None:
            table.skipped.add("no label", line)
        else:
            texts.append(own)
            labels.append(label)
    first = KINDS[kind][1][0]
    return ExampleSet(
        table.source, table.name, kind, tuple(texts), np.array(labels), first, classes
    )


def _labels(
    texts: int, given: Sequence[Any]
) -> tuple[ExampleKind, Callable[[Any], float | None], tuple[str, ...]]:
    """The kind of examples, how a label becomes a number, and the names of classes."""
    if not given:
        kinds: dict[int, ExampleKind] = {1: "texts", 2: "pairs", 3: "triplets"}
        return kinds.get(texts, "tuples"), parse_label, ()
    numbers = [number for value in given if (number := parse_label(value)) is not None]
    are_numbers = 2 * len(numbers) >= len(given)
    if are_numbers and texts == 3:
        return "scored triplets", parse_label, ()
    if are_numbers and texts == 2:
        distinct = set(numbers)
        if distinct <= {0.0, 1.0}:
            return "labelled pairs", parse_label, ("0", "1")
        if distinct - {-1.0} != NLI_NUMBERS:
            return "scored pairs", parse_label, ()
    names = sorted({_class_name(value) for value in given} - set(NO_CLASS))
    numbered = {name: float(number) for number, name in enumerate(names)}
    if texts > 3:
        raise InvalidArgumentError(
            f"the examples have {texts} texts and a label, {', '.join(names[:3])} …: name the"
            " columns of the texts alone, or of at most three texts and a label"
        )
    if texts == 3 or len(names) < 2:
        raise InvalidArgumentError(
            f"the labels of the examples are {', '.join(names[:5])}: pass numbers for three texts,"
            " and at least two classes otherwise"
        )
    kind: ExampleKind = "classified pairs" if texts == 2 else "classified texts"
    return kind, lambda value: numbered.get(_class_name(value)), tuple(names)


def parse_label(value: Any) -> float | None:
    """The finite number of a label, or None; true and false are 1 and 0."""
    return float(value) if isinstance(value, bool) else parse_number(str(value))


def _class_name(value: Any) -> str:
    number = parse_label(value)
    whole = number is not None and number == int(number)
    return str(int(number)) if whole and number is not None else str(value or "").strip().lower()


def _field(fields: Sequence[Any], column: int) -> Any:
    value = fields[column] if column < len(fields) else ""
    return "" if value is None else value


def make_pairs(examples: ExampleSet, seed: int, reporter: Reporter) -> ExampleSet:
    """Two pairs per text with a class: with a text of its class (1), and of another class (0)."""
    random = np.random.default_rng(seed)
    members = [np.flatnonzero(examples.labels == i) for i in range(len(examples.classes))]
    texts, labels = [text for (text,) in examples.texts], examples.labels.astype(int)
    pairs: list[tuple[str, str]] = []
    for number, text in enumerate(texts):
        own = members[labels[number]]
        if len(own) < 2 or len(own) == len(texts):
            continue
        other = int(own[random.integers(len(own) - 1)])
        similar = other if other != number else int(own[-1])
        while labels[different := int(random.integers(len(texts)))] == labels[number]:
            continue
        pairs += [(text, texts[similar]), (text, texts[different])]
    lost = len(texts) - len(pairs) // 2
    if lost:
        reporter.warn(f"{examples.name}: {lost:,} texts are the only one of their class: skipped")
    made = np.tile([1.0, 0.0], len(pairs) // 2)
    return replace(examples, kind="labelled pairs", texts=tuple(pairs), labels=made, classes=())


def _scaled(examples: ExampleSet, reporter: Reporter) -> ExampleSet:
    """Scores of cosine regression between 0 and 1, unless they are cosines already."""
    highest = float(np.abs(examples.labels).max(initial=0.0))
    if examples.objective != "cosine" or highest <= 1:
        return examples
    if examples.labels.min() < 0:
        raise InvalidArgumentError(
            f"{examples.source} has scores from {examples.labels.min():g} to {highest:g}: pass"
            " scores from 0 up, or cosines between -1 and 1"
        )
    reporter.warn(
        f"{examples.source}: scores are divided by {highest:g}, to be compared with cosines"
    )
    return replace(examples, labels=examples.labels / highest)
