"""`malmoi tune classify DATA --out MODEL`: a classifier of your own labelled texts."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.classify.kinds import choose_classifier
from malmoi.classify.ngrams.settings import NgramClassifier
from malmoi.classify.result import ClassifierResult, ClassifierScores
from malmoi.classify.training import train_classifier
from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.resume import let_threads_sleep
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_options import Settings, split_columns
from malmoi.cli.shared.text_width import fitted, wrapped
from malmoi.table import HEAD

DEFAULT = NgramClassifier()
MISTAKE_COLUMNS, NGRAMS = 74, "ngrams"


def tune_classify_command(
    data: Annotated[
        Path,
        Parameter(help="A table of texts and labels, folders of texts, or fastText's lines."),
    ],
    *,
    model: Annotated[
        str, Parameter(help="ngrams, words, jamo, gru, cnn …, an encoder, or a+b of them.")
    ] = NGRAMS,
    test: Annotated[Path | None, Parameter(help="Texts to test on, as DATA.")] = None,
    out: Annotated[Path | None, Parameter(help="The file of the classifier.")] = None,
    settings: Annotated[NgramClassifier, Settings] = DEFAULT,
    json: AsJson = False,
) -> None:
    """Train a classifier on labelled texts, and test it on held-out ones.

    The columns of a table are detected; --columns TEXT,LABEL names them. With --model the
    classifier is of another kind than n-grams; its settings follow after colons, as in
    minilm:head=mlp or gru:units=jamo. malmoi compare finds out which one suits your texts.
    """
    let_threads_sleep()
    settings = replace(settings, columns=split_columns(settings.columns))
    classifier = choose_classifier(model, settings)
    with TerminalReporter() as reporter:
        result = train_classifier(data, classifier, test=test, out=out, reporter=reporter)
    if json:
        print_json(as_record(result))
        return
    print(result)
    if result.scores is not None:
        print_scores(result.scores)
    if out is not None:
        print(wrapped(f"{out}: malmoi classify {out} TEXT"))


def print_scores(scores: ClassifierScores) -> None:
    """The table of labels, those with the lowest F1 if there are many, and confident mistakes."""
    if len(scores.labels) > HEAD:
        worst = sorted(scores.labels, key=lambda one: one.f1)[:HEAD]
        print(f"{replace(scores, labels=tuple(worst))}\n  … of {len(scores.labels)}, lowest F1")
    else:
        print(scores)
    if scores.mistakes:
        print("Confident mistakes")
    for one in scores.mistakes:
        print(f"  {100 * one.probability:.1f} % {one.predicted}, labelled {one.label}")
        print(f"    {fitted(' '.join(one.text.split()), MISTAKE_COLUMNS).rstrip()}")


def as_record(result: ClassifierResult) -> dict[str, Any]:
    """The result for JSON."""
    record: dict[str, Any] = {
        "data": result.name,
        "labels": list(result.classifier.labels),
        "multi_label": result.classifier.multi_label,
        "train_texts": result.train_texts,
        "test_texts": result.test_texts,
        "repeats": result.repeats,
        "seconds": round(result.seconds, 2),
        "cpu_seconds": round(result.cpu_seconds, 2),
    }
    if (scores := result.scores) is not None:
        record |= {
            "accuracy": scores.accuracy.value,
            "low": scores.accuracy.low,
            "high": scores.accuracy.high,
            "macro_f1": scores.macro_f1,
            "baseline": scores.baseline,
            "calibration_error": scores.calibration_error,
            "scores": [asdict(one) for one in scores.labels],
            "mistakes": [asdict(one) for one in scores.mistakes],
        }
    return record
