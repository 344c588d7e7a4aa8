"""The bar: how far, how fast, how long still, where somebody looks."""

from io import StringIO
from types import SimpleNamespace

import pytest

from malmoi.cli.shared import progress
from malmoi.cli.shared.progress import progress_bar


class Terminal(StringIO):
    """Where somebody looks, at a time that only moves when told."""

    now = 100.0

    def isatty(self) -> bool:
        return True

    def line(self) -> str:
        return self.getvalue().rpartition("\x1b[K")[2]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    shown = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=shown))
    monkeypatch.setattr(progress, "monotonic", lambda: shown.now)
    return shown


def test_nothing_is_shown_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("counting", "words") as told:
        told(0, 10)
        told(5, 10)
    assert capsys.readouterr().err == ""


def test_how_far_and_how_long_still(terminal: Terminal) -> None:
    told = progress_bar("counting")
    told(0, 100)
    assert terminal.line() == ""
    terminal.now += 10
    told(25, 100)
    assert terminal.line().split() == ["counting", "━━━━━", "25%", "0:30", "left"]
    told(100, 100)
    assert terminal.getvalue().endswith("left\r\x1b[K")


def test_how_fast_and_how_well(terminal: Terminal) -> None:
    told = progress_bar("training", "records")
    told(0, 10**9)
    told.note_loss(0.03141)
    terminal.now += 10
    told(81_000_000, 10**9)
    line = terminal.line()
    assert line.endswith("  8%  8.1 M records/s  loss 0.0314  1:53 left")
    assert len(line) < 80


def test_work_that_goes_on_is_not_faster_for_it(terminal: Terminal) -> None:
    told = progress_bar("training", "words")
    told(900_000, 1_000_000)  # by an earlier run
    terminal.now += 10
    told(950_000, 1_000_000)
    assert terminal.line().endswith(" 95%  5.0 k words/s  0:10 left")
    told = progress_bar("training", "words")
    told(10, 100)
    terminal.now += 1
    told(10, 100)
    assert terminal.line().endswith(" 10%  0 words/s")
