"""Compares classifiers: trains each with several seeds and on parts of the texts.

All classifiers are trained and tested on the same texts. Finished runs are cached, so a comparison
that is broken off goes on where it was.
"""

import time
from collections.abc import Sequence
from os import PathLike

from malmoi.arguments import expect_path, settings_or_default
from malmoi.classify.compare.ranking import ranked_scores, recommend, whole_runs
from malmoi.classify.compare.report import check_report, write_errors, write_report
from malmoi.classify.compare.result import Comparison
from malmoi.classify.compare.runner import Runner
from malmoi.classify.compare.settings import CompareSettings
from malmoi.classify.kinds import classifier_settings, default_kinds
from malmoi.errors import InvalidArgumentError
from malmoi.files.targets import check_writable
from malmoi.kernels.threads import THREADS
from malmoi.reporting.reporter import DEFAULT_REPORTER, Progress, Reporter, expect_reporter
from malmoi.tune.data.label_checks import read_checked_set
from malmoi.tune.data.tables import DataSource


def compare(
    data: DataSource,
    models: Sequence[str] | None = None,
    settings: CompareSettings | None = None,
    *,
    out: str | PathLike[str] | None = None,
    errors: str | PathLike[str] | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Comparison:
    """Compare classifiers on texts with labels: accuracy, significance and cost.

    Args:
        data: Texts with labels, as `train_classifier` takes them.
        models: Names of classifiers, as `classifier_settings` reads them: `ngrams`, `minilm`,
            `gru:units=jamo`, `ngrams+use`. By default a set that suits the language of the texts.
        settings: Splits, seeds, learning curves and the time to take.
        out: A report to write: .html, .md or .json.
        errors: A .jsonl file to write, of all test texts that the recommended classifier gets
            wrong, with their labels; `malmoi project` shows it as a map.
        reporter: Receives progress and what was found in the data.

    Returns:
        All classifiers from the best to the worst, and which one to take.

    Raises:
        InvalidFileError: A file cannot be read or written.
        InvalidArgumentError: The rows are not texts with labels, or no classifier could be trained.
    """
    settings = settings_or_default(settings, CompareSettings)
    expect_reporter(reporter)
    report = None if out is None else expect_path(out, "out")
    if report is not None:
        check_report(report)
    wrong = None if errors is None else expect_path(errors, "errors")
    if wrong is not None:
        check_writable(wrong)
    start, notes = time.monotonic(), NotesReporter(reporter)
    every = read_checked_set(
        data, settings.columns, label_separator=settings.label_separator, reporter=notes
    )
    names = default_kinds(every.texts) if models is None else _distinct(models)
    by_name = {name: classifier_settings(name) for name in names}
    runner = Runner(every, by_name, settings, notes)
    runner.run()
    if not runner.finished:
        why = "; ".join(f"{name}: {reason}" for name, reason in runner.failed.items())
        raise InvalidArgumentError(f"no classifier could be trained: {why}")
    scored = ranked_scores(runner.finished)
    recommended, sentence = recommend(scored, len(every))
    first = next(iter(runner.finished[scored[0].name].values()))
    comparison = Comparison(
        data=every.name,
        labels=every.names,
        multi_label=every.multi_label,
        train_texts=first.train_texts,
        test_texts=len(first.rows),
        seeds=runner.finished_seeds,
        models=scored,
        failed=tuple(runner.failed.items()),
        recommended=recommended,
        sentence=f"{sentence[0].upper()}{sentence[1:]}.",
        notes=tuple(notes.sentences),
        seconds=time.monotonic() - start,
        machine=machine(),
    )
    if report is not None:
        write_report(comparison, report)
    if wrong is not None:
        write_errors(every, whole_runs(runner.finished[recommended]), wrong)
    return comparison


class NotesReporter(Reporter):
    """Passes everything on, and remembers the warnings."""

    def __init__(self, reporter: Reporter) -> None:
        self.reporter, self.sentences = reporter, list[str]()

    def stage(self, name: str, unit: str = "") -> Progress:
        """Pass a stage on."""
        return self.reporter.stage(name, unit)

    def warn(self, sentence: str) -> None:
        """Remember a warning, and pass it on."""
        self.sentences.append(sentence)
        self.reporter.warn(sentence)


def machine() -> str:
    """The processor, how many threads are used, and the instruction set of the kernels."""
    from malmoi.kernels.core.instruction_sets import current_set, processor_name

    return f"{processor_name()}, {THREADS} threads, {current_set().name}"


def _distinct(models: Sequence[str]) -> tuple[str, ...]:
    if isinstance(models, str):
        models = [models]
    names = tuple(dict.fromkeys(models))
    if not names:
        raise InvalidArgumentError("models is empty: name at least one, such as ngrams")
    return names
