"""Reporter and its subclasses: what they pass on, add up and drop."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pytest

from malmoi.errors import MalmoiWarning
from malmoi.formats.reading import LoadReport
from malmoi.reporting.reporter import InputTotals, Reporter, SilentReporter
from tests.recording_reporter import RecordingReporter


@dataclass
class Truncated:
    """Counts of truncated texts."""

    count: int = 0
    total: int = 0

    def add(self, other: Self) -> None:
        self.count += other.count
        self.total += other.total

    def sentences(self, *, numbered: bool = True) -> list[str]:
        where = ", the first at 2" if numbered else ""
        return [f"{self.count} of {self.total} texts truncated{where}"] if self.count else []


def test_the_default_reporter_warns_at_the_line_of_its_caller() -> None:
    reporter = Reporter()
    with pytest.warns(MalmoiWarning, match="3 rows skipped") as caught:
        reporter.warn("3 rows skipped")
    assert Path(caught[0].filename) == Path(__file__)
    reporter.stage("reading", "texts")(1, 2)
    reporter.loss(0.5)
    reporter.memory(1000)


def test_input_statistics_become_one_warning_per_sentence() -> None:
    with pytest.warns(MalmoiWarning, match="minilm: 1 of 2 texts truncated, the first at 2"):
        Reporter().inputs("minilm", Truncated(1, 2))
    recorder = RecordingReporter()
    recorder.inputs("minilm", Truncated(0, 2))
    assert recorder.warnings == []


def test_input_totals_add_up_many_calls_and_warn_once() -> None:
    recorder = RecordingReporter()
    with InputTotals(recorder) as totals:
        totals.inputs("minilm", Truncated(1, 2))
        totals.inputs("use", Truncated(2, 2))
        totals.inputs("minilm", Truncated(3, 5))
        assert recorder.warnings == []
    assert recorder.warnings == ["minilm: 4 of 7 texts truncated", "use: 2 of 2 texts truncated"]


def test_input_totals_pass_everything_else_on_at_once() -> None:
    recorder = RecordingReporter()
    totals = InputTotals(recorder)
    totals.stage("embedding", "texts")(1, 2)
    totals.loss(0.5)
    totals.memory(1000)
    totals.warn("no cache")
    assert recorder.units == {"embedding": "texts"}
    assert recorder.progress == [(1, 2)]
    assert recorder.losses == [0.5]
    assert recorder.bytes == [1000]
    assert recorder.warnings == ["no cache"]


def test_the_reports_of_several_files_add_up() -> None:
    first, second = LoadReport(), LoadReport()
    first.repeated.add(2, "the")
    second.repeated.add(1, "of")
    second.malformed.add(3, "x.vec:7: the row of 'a' has 3 numbers")
    recorder = RecordingReporter()
    with InputTotals(recorder) as totals:
        totals.inputs("vectors", first)
        totals.inputs("vectors", second)
    assert recorder.warnings == [
        "vectors: malformed rows skipped: 3, the first at x.vec:7: the row of 'a' has 3 numbers",
        "vectors: repeated keys (only the first row is used): 3, such as 'the'",
    ]


def test_a_silent_reporter_drops_warnings() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SilentReporter().warn("3 rows skipped")
        SilentReporter().inputs("minilm", Truncated(1, 2))
