"""The bar: how far, how fast, how long still, where somebody looks."""

import sys

import pytest

from malmoi.cli import progress
from malmoi.cli.progress import bar

Output = pytest.CaptureFixture[str]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> list[float]:
    """A terminal (that of capsys), and a time that only moves when told."""
    now = [100.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    return now


def drawn(capsys: Output) -> str:
    return capsys.readouterr().err.rpartition("\x1b[K")[2]


def test_nothing_is_shown_where_nobody_looks(capsys: Output) -> None:
    with bar("counting", "words") as told:
        told(0, 10)
        told(5, 10)
    assert capsys.readouterr().err == ""


def test_how_far_and_how_long_still(clock: list[float], capsys: Output) -> None:
    told = bar("counting")
    told(0, 100)
    assert drawn(capsys) == ""
    clock[0] += 10
    told(25, 100)
    assert drawn(capsys).split() == ["counting", "━━━━━", "25%", "0:30", "left"]
    told(100, 100)
    assert capsys.readouterr().err == "\r\x1b[K"


def test_how_fast_and_how_well(clock: list[float], capsys: Output) -> None:
    told = bar("training", "records")
    told(0, 10**9)
    told.note_loss(0.03141)
    clock[0] += 10
    told(81_000_000, 10**9)
    line = drawn(capsys)
    assert line.endswith("  8%  8.1 M records/s  loss 0.0314  1:53 left")
    assert len(line) < 80


def test_work_that_goes_on_is_not_faster_for_it(clock: list[float], capsys: Output) -> None:
    told = bar("training", "words")
    told(900_000, 1_000_000)  # by an earlier run
    clock[0] += 10
    told(950_000, 1_000_000)
    assert drawn(capsys).endswith(" 95%  5.0 k words/s  0:10 left")
    told = bar("training", "words")
    told(10, 100)
    clock[0] += 1
    told(10, 100)
    assert drawn(capsys).endswith(" 10%  0 words/s")
