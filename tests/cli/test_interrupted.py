"""Ctrl-C half-way: one sentence, exit code 130, and nothing half-written."""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from malmoi.cli import run
from malmoi.encode.runtime.batches import thread_per_core
from malmoi.files import output
from malmoi.formats import save
from malmoi.reporting.progress_bar import ProgressBar
from tests.query.worlds import capitals

TEXTS = ["the bank of a river", "a bank clerk", "money in the bank", "robbers of a bank"]
COMMANDS = {
    "project": ["project", "words.malmoi", "--out", "out/x.html"],
    "senses": ["project", "--word", "bank", "--corpus", "texts.txt", "--out", "out/x.html"],
    "sweep": ["sweep", "minilm", "--file", "pairs.csv", "--plot", "out/x.svg"],
    "context": ["context", "bank", "texts.txt", "--model", "minilm", "--plot", "out/x.svg"],
}
Output = pytest.CaptureFixture[str]
every_command = pytest.mark.parametrize("name", list(COMMANDS))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("out").mkdir()
    save(capitals(), "words.malmoi")
    Path("texts.txt").write_text("\n".join(TEXTS))
    Path("pairs.csv").write_text("".join(f"{TEXTS[0]},{text},{len(text)}\n" for text in TEXTS))


class Stopped(ProgressBar):
    """A progress bar that is interrupted at the first call."""

    def __call__(self, done: int, total: int) -> None:
        raise KeyboardInterrupt


def assert_stopped(name: str, capsys: Output) -> None:
    assert run(COMMANDS[name]) == 130
    assert capsys.readouterr().err == "malmoi: interrupted\n"
    assert list(Path("out").iterdir()) == []


@every_command
def test_on_the_way(name: str, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.setattr("malmoi.reporting.progress_bar.ProgressBar", Stopped)
    assert_stopped(name, capsys)


@every_command
def test_before_the_file_is_in_its_place(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    def stopped(parts: Sequence[Path], _: object) -> None:
        assert parts[0].stat().st_size
        raise KeyboardInterrupt

    monkeypatch.setattr(output, "move_into_place", stopped)
    assert_stopped(name, capsys)


def test_inside_of_what_a_compiler_calls_back() -> None:
    """There, Python only complains of what is raised, and goes on."""
    program = """
import ctypes, signal, time
from malmoi import cli

def work(*words, **more):
    ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()
    time.sleep(600)

cli.make_app = lambda: work
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored here
cli.main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=300)
    assert (done.returncode, done.stderr) == (130, b"malmoi: interrupted\n")


def test_with_much_still_to_begin() -> None:
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        time.sleep(0.01)

    def share_out() -> None:
        with thread_per_core() as pool:
            for number in range(1000):
                pool.submit(work, number)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        share_out()
    assert len(begun) < 900


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device on this system")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_output_that_cannot_be_written_is_an_error_of_one_sentence(more: list[str]) -> None:
    command = [sys.executable, "-m", "malmoi", "neighbours", "words.malmoi", "한국", *more]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "malmoi: the output cannot be written: No space left on device\n"
