"""A file is written whole or not at all, whatever happens on the way."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.formats import catalogue, load, save
from malmoi.keys import Keys
from malmoi.vectors import Vectors

NAMES = {
    "malmoi": "big.malmoi",
    "numpy": "big.npy",
    "parquet": "big.parquet",
    "fasttext": "big.bin",
    "word2vec-binary": "big.bin",
    "word2vec": "big.vec",
    "glove": "big.txt",
    "projector": "big.tsv",
}
every_format = pytest.mark.parametrize("name", list(catalogue.MODULES))


@pytest.fixture
def big() -> Vectors:
    matrix = np.random.default_rng(5).normal(size=(2000, 50)).astype(np.float32)
    return Vectors(Keys.of(f"word{row}" for row in range(2000)), matrix)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@contextmanager
def small_disk(limit: int) -> Iterator[None]:
    """No file can grow past `limit` bytes; Python ignores the signal that comes with it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class Interrupted:
    """A file that is interrupted once so much is written to it."""

    def __init__(self, file: IO[bytes], limit: int) -> None:
        self._file, self._left = file, limit

    def write(self, data: bytes) -> int:
        self._left -= memoryview(data).nbytes
        if self._left < 0:
            raise KeyboardInterrupt
        return self._file.write(data)

    def writelines(self, lines: Iterator[bytes]) -> None:
        for line in lines:
            self.write(line)

    def __enter__(self) -> "Interrupted":
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@pytest.fixture
def interrupt_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    def arm(limit: int) -> None:
        really_open: Callable[..., IO[bytes]] = Path.open

        def opened(path: Path, *mode: Any, **options: Any) -> IO[bytes] | Interrupted:
            file = really_open(path, *mode, **options)
            return Interrupted(file, limit) if mode == ("wb",) and path.suffix == ".part" else file

        monkeypatch.setattr(Path, "open", opened)

    return arm


@pytest.mark.parametrize("name", sorted(catalogue.COMPRESSIBLE | {"numpy"}))
@pytest.mark.parametrize("limit", [0, 5000, 100_000])
def test_an_interrupt_half_way_keeps_the_old_file(
    name: str,
    limit: int,
    big: Vectors,
    words: Vectors,
    tmp_path: Path,
    interrupt_after: Callable[[int], None],
) -> None:
    old, new = tmp_path / NAMES[name], tmp_path / f"new-{NAMES[name]}"
    save(words, old, format=name)
    before = contents(tmp_path)
    interrupt_after(limit)
    for target in (old, new):
        with pytest.raises(KeyboardInterrupt):
            save(big, target, format=name)
        assert contents(tmp_path) == before
    assert list(load(old)) == list(words)


@pytest.mark.parametrize("name", sorted(catalogue.COMPRESSIBLE))
def test_an_interrupt_leaves_no_zipped_file(
    name: str, big: Vectors, tmp_path: Path, interrupt_after: Callable[[int], None]
) -> None:
    interrupt_after(5000)
    with pytest.raises(KeyboardInterrupt):
        save(big, tmp_path / f"{NAMES[name]}.gz", format=name)
    assert contents(tmp_path) == {}


@pytest.mark.parametrize(
    ("name", "file"),
    [*[(name, 1) for name in catalogue.MODULES], ("numpy", 2), ("projector", 2)],
)
def test_an_interrupt_before_the_end_keeps_the_old_file(
    name: str, file: int, words: Vectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(words, tmp_path / NAMES[name], format=name)
    before = contents(tmp_path)
    flushed: list[int] = []

    def interrupted(descriptor: int) -> None:
        flushed.append(descriptor)
        if len(flushed) == file:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(words[1:3], tmp_path / NAMES[name], format=name)
    assert contents(tmp_path) == before


@every_format
@pytest.mark.parametrize("limit", [0, 1000, 30_000, 100_000])
def test_a_full_disk_keeps_the_old_file(
    name: str, limit: int, big: Vectors, words: Vectors, tmp_path: Path
) -> None:
    target = tmp_path / NAMES[name]
    save(big, target, format=name)  # compiles what is needed while there is room
    save(words, target, format=name)
    before = contents(tmp_path)
    with pytest.raises(InvalidFileError, match="not written") as caught, small_disk(limit):
        save(big, target, format=name)
    assert "\n" not in str(caught.value)
    assert contents(tmp_path) == before
    assert list(load(target)) == list(words)


def test_a_full_disk_is_called_so(big: Vectors, tmp_path: Path) -> None:
    save(big, tmp_path / "big.vec")
    with pytest.raises(InvalidFileError, match="the disk is full"), small_disk(30_000):
        save(big, tmp_path / "big.vec")


def test_numbers_that_stay_in_the_buffer_do_not_part_from_their_words(
    words: Vectors, tmp_path: Path
) -> None:
    save(words[:2], tmp_path / "few.tsv")
    before = contents(tmp_path)
    # The words fit on the disk, the numbers do not, but for a while they fit into the buffer.
    with pytest.raises(InvalidFileError), small_disk(200):
        save(words, tmp_path / "few.tsv")
    assert contents(tmp_path) == before


@every_format
def test_places_that_cannot_be_written_are_refused(
    name: str, words: Vectors, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "folder.bin").mkdir()
    for place in ("no-such/x.bin", "file/x.bin", "folder.bin", "x" * 300 + ".bin"):
        with pytest.raises(InvalidFileError) as caught:
            save(words, tmp_path / place, format=name)
        assert str(tmp_path) in str(caught.value)
        assert "\n" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.bin"]


@every_format
def test_a_name_may_be_as_long_as_the_disk_allows(
    name: str, words: Vectors, tmp_path: Path
) -> None:
    path = tmp_path / ("x" * 230 + NAMES[name].removeprefix("big"))
    save(words, path, format=name)
    assert list(load(path)) == list(words)


def test_a_name_that_says_no_format_is_refused(words: Vectors, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="does not select a format"):
        save(words, tmp_path / "words.doc")
    with pytest.raises(InvalidArgumentError, match="unknown format 'word'"):
        save(words, tmp_path / "words.vec", format="word")
    assert not list(tmp_path.iterdir())


def test_a_link_goes_on_pointing_to_its_file(words: Vectors, tmp_path: Path) -> None:
    save(words[:2], tmp_path / "real.vec")
    (tmp_path / "link.vec").symlink_to("real.vec")
    save(words, tmp_path / "link.vec")
    assert (tmp_path / "link.vec").is_symlink()
    assert list(load(tmp_path / "real.vec")) == list(words)


def test_what_a_killed_process_left_is_removed_by_the_next(words: Vectors, tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from malmoi.files.output import open_output\n"
        "with open_output(Path(sys.argv[1])) as (file,):\n"
        "    file.write(b'half')\n"
        "    file.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )

    def kill(name: str) -> Path:
        done = subprocess.run([sys.executable, "-c", program, str(tmp_path / name)])
        assert done.returncode == -signal.SIGKILL
        (left,) = tmp_path.glob(".*.part")
        return left

    left = kill("a.vec")
    mark, process = left.name.split(".")[1:3]
    living = left.with_name(left.name.replace(process, str(os.getppid())))
    other = left.with_name(left.name.replace(mark, "0" * len(mark)))
    living.touch()
    other.touch()
    save(words, tmp_path / "a.vec")
    assert set(tmp_path.iterdir()) == {tmp_path / "a.vec", living, other}
    assert list(load(tmp_path / "a.vec")) == list(words)
