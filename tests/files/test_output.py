"""Files that several write at once, permissions, and disks that are full."""

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from malmoi.cli import run
from malmoi.errors import InvalidFileError
from malmoi.files.lock import file_lock, folder_lock
from malmoi.files.output import open_output


def test_threads_that_write_one_file_each_write_a_whole_one(tmp_path: Path) -> None:
    path, barrier = tmp_path / "x", Barrier(4)

    def write(letter: bytes) -> None:
        with open_output(path) as (file,):
            for _ in range(20):
                barrier.wait()
                file.write(letter * 1000)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, (b"a", b"b", b"c", b"d")))
    assert path.read_bytes() in [letter * 20_000 for letter in (b"a", b"b", b"c", b"d")]
    assert list(tmp_path.iterdir()) == [path]


def test_the_umask_is_never_changed_and_always_heeded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = os.umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("the umask was changed"))
        with open_output(tmp_path / "new") as (file,):
            file.write(b"x")
        old = tmp_path / "old"
        old.touch()
        old.chmod(0o604)
        with open_output(old) as (file,):
            file.write(b"x")
    finally:
        monkeypatch.undo()
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert stat.S_IMODE(old.stat().st_mode) == 0o604


def test_a_lock_on_a_full_disk_is_an_error_of_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    with (
        pytest.raises(InvalidFileError, match="was not written: the disk is full"),
        folder_lock(tmp_path),
    ):
        pass


def test_one_process_at_a_time_makes_a_file(tmp_path: Path) -> None:
    path = tmp_path / "out.malmoi"
    with (
        file_lock(path),
        pytest.raises(
            InvalidFileError, match=r"out\.malmoi is being written by another process \(\d+\)"
        ),
        file_lock(path),
    ):
        pass
    with file_lock(path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_second_training_into_one_file_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, out = tmp_path / "text.txt", tmp_path / "out.malmoi"
    text.write_text("the cat sat on the mat and the dog sat on the log\n" * 40)
    command = ["train", "word2vec", str(text), "--out", str(out), "--dim", "4", "--min-count", "1"]
    with file_lock(out):
        assert run(command) == 1
    assert "out.malmoi is being written by another process" in capsys.readouterr().err
    assert not out.exists()
    assert run(command) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"text.txt", "out.malmoi"}
