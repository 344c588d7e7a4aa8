"""Progress bars: share, speed, loss and time left, on terminals only."""

from io import StringIO
from types import SimpleNamespace

import pytest

from malmoi.errors import MalmoiWarning
from malmoi.reporting import progress_bar
from malmoi.reporting.progress_bar import ProgressBar, ProgressReporter


class Terminal(StringIO):
    """A terminal with a clock that the test sets."""

    now = 100.0

    def isatty(self) -> bool:
        return True

    def line(self) -> str:
        return self.getvalue().rpartition("\x1b[K")[2]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    terminal = Terminal()
    monkeypatch.setattr(progress_bar, "sys", SimpleNamespace(stderr=terminal))
    monkeypatch.setattr(progress_bar, "monotonic", lambda: terminal.now)
    return terminal


def test_nothing_is_drawn_where_stderr_is_a_file(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Terminal, "isatty", lambda self: False)
    with ProgressReporter() as reporter:
        progress = reporter.stage("counting", "words")
        progress(0, 10)
        terminal.now += 10
        progress(5, 10)
    assert terminal.getvalue() == ""


def test_a_bar_shows_the_share_and_the_time_left(terminal: Terminal) -> None:
    bar = ProgressBar("counting")
    bar(0, 100)
    assert terminal.line() == ""
    terminal.now += 10
    bar(25, 100)
    assert terminal.line().split() == ["counting", "━━━━━", "25%", "0:30", "left"]
    bar(100, 100)
    assert terminal.getvalue().endswith("left\r\x1b[K")


def test_a_bar_waits_before_it_is_drawn_and_between_drawings(terminal: Terminal) -> None:
    bar = ProgressBar("counting")
    bar(0, 100)
    terminal.now += progress_bar.SHOW_AFTER / 2
    bar(1, 100)
    assert terminal.getvalue() == ""
    terminal.now += progress_bar.SHOW_AFTER
    bar(2, 100)
    terminal.now += progress_bar.REDRAW_EVERY / 2
    bar(3, 100)
    assert " 2%" in terminal.line()


def test_a_bar_shows_speed_and_loss_in_one_line(terminal: Terminal) -> None:
    reporter = ProgressReporter()
    progress = reporter.stage("training", "records")
    progress(0, 10**9)
    reporter.loss(0.03141)
    terminal.now += 10
    progress(81_000_000, 10**9)
    line = terminal.line()
    assert line.endswith("  8%  8.1 M records/s  loss 0.0314  1:53 left")
    assert len(line) < 80


def test_the_speed_of_a_resumed_run_counts_from_its_first_call(terminal: Terminal) -> None:
    bar = ProgressBar("training", "words")
    bar(900_000, 1_000_000)  # done by an earlier run
    terminal.now += 10
    bar(950_000, 1_000_000)
    assert terminal.line().endswith(" 95%  5.0 k words/s  0:10 left")
    bar = ProgressBar("training", "words")
    bar(10, 100)
    terminal.now += 1
    bar(10, 100)
    assert terminal.line().endswith(" 10%  0 words/s")


def test_a_warning_a_new_stage_and_an_exception_clear_the_bar(terminal: Terminal) -> None:
    def interrupted() -> None:
        with ProgressReporter() as reporter:
            draw(reporter, "counting")
            with pytest.warns(MalmoiWarning, match="bad lines: 3"):
                reporter.warn("bad lines: 3")
            assert terminal.getvalue().endswith("\r\x1b[K")
            draw(reporter, "counting")
            reporter.stage("training")
            assert terminal.getvalue().endswith("\r\x1b[K")
            draw(reporter, "training")
            raise KeyboardInterrupt

    def draw(reporter: ProgressReporter, name: str) -> None:
        progress = reporter.stage(name)
        progress(0, 100)
        terminal.now += 10
        progress(25, 100)
        assert terminal.line().startswith(name)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_a_loss_before_the_first_stage_is_ignored() -> None:
    ProgressReporter().loss(1.0)
