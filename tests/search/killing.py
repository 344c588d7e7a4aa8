"""Writers that are killed at random moments, and what they leave: run by `test_killed`.

Forks writers out of one process, so that fifty of them take seconds.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from malmoi.reporting.reporter import Progress, Reporter
from malmoi.search import writer
from malmoi.search.build import build_index, open_index
from malmoi.search.storage.entry import Entry
from malmoi.search.storage.folder import Folder
from malmoi.search.update import update_index
from malmoi.search.writer import IndexUpdate
from tests.search.worlds import BagOfWords

KILLS = 50
BAG = BagOfWords()
Content = dict[str, str]


def operations(start: int) -> Iterator[tuple[list[str], list[str]]]:
    """What the writer does, commit by commit: ids to put with their number, ids to delete."""
    for number in range(start, sys.maxsize):
        drawn = random.Random(number)
        ids = [f"id{i}" for i in drawn.sample(range(30), drawn.randint(1, 12))]
        yield ([], ids) if drawn.random() < 0.4 else (ids, [])


def expected(commits: int) -> Content:
    """What an index holds after so many commits."""
    content: Content = {}
    for number, (put, deleted) in zip(range(commits), operations(0), strict=False):
        content |= {id: f"text {id} of commit {number}" for id in put}
        for id in deleted:
            content.pop(id, None)
    return content


def write(path: Path, start: int, told: int) -> None:
    """Go on writing for ever; say each commit once it is done."""
    index = open_index(path, BAG)
    for number, (put, deleted) in enumerate(operations(start), start):
        if put:
            index.add([f"text {id} of commit {number}" for id in put], ids=put)
        else:
            index.delete(deleted)
        os.write(told, b".")


def contents(path: Path) -> Content:
    index = open_index(path, BAG)
    state = index.state
    found = [state.entry(row) for row in range(len(state.living)) if state.living[row]]
    for entry in found:
        (hit,) = index.search(entry.text, 1)
        assert hit.text == entry.text, (hit, entry)
    return {entry.id: entry.text for entry in found}


def killed(work: Callable[[int], object], moment: float, *, early: bool = False) -> int:
    """Start work in a process of its own and kill it; how much it had said was done.

    It is killed a moment after it has said something, or else a moment after it has begun.
    """
    reading, told = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            work(told)
        finally:
            os._exit(1)
    os.close(told)
    said = b"" if early else os.read(reading, 1 << 16)
    time.sleep(moment)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while block := os.read(reading, 1 << 16):
        said += block
    os.close(reading)
    return len(said)


def kill_writers(folder: Path) -> None:
    path, chance, done = folder / "index", random.Random(7), 0
    build_index(BAG, [], path=path)
    for _ in range(KILLS):
        moment, early = chance.uniform(0, 0.06), chance.random() < 0.2
        done += killed(lambda told: write(path, done, told), moment, early=early)  # noqa: B023
        found = contents(path)
        if found != expected(done):
            done += 1  # it was killed after the commit and before it said so
            assert found == expected(done), f"no state that was committed, after {done}"
    assert done > KILLS // 2, f"only {done} commits"
    open_index(path, BAG).add(["last"], ids=["last"])
    named = {segment.name for segment in Folder(path).read().segments}
    left = {each.name for each in path.iterdir()}
    assert left == {*named, "manifest.json", "lock"}, left
    sys.stdout.write(f"{done} commits\n")


def kill_updates(folder: Path) -> None:
    path, chance = folder / "updated", random.Random(8)
    writer.COMMIT_EVERY, writer.BATCH_TEXTS = 0.0, 20
    entries = [Entry(str(i), f"text number {i}", {"even": i % 2 == 0}) for i in range(2000)]
    whole = {entry.id: entry.text for entry in entries}
    kept = 0
    for _ in range(6):
        killed(lambda told: update(path, entries, told), chance.uniform(0, 0.1))
        found = contents(path)
        assert found.items() <= whole.items()
        assert len(found) > kept, "nothing was kept"
        kept = len(found)
    assert kept < len(entries), "killed too late"
    done = update(path, entries, sys.stderr.fileno())
    assert done.unchanged == kept
    assert done.embedded == len(entries) - kept
    assert contents(path) == whole
    sys.stdout.write(f"{kept} texts kept\n")


class CommitReporter(Reporter):
    """Writes a byte when something is committed, which is when the second batch is embedded."""

    def __init__(self, pipe: int) -> None:
        self.pipe = pipe

    def stage(self, name: str, unit: str = "") -> Progress:
        def progress(done: int, total: int) -> None:
            if done > writer.BATCH_TEXTS:
                os.write(self.pipe, b".")

        return progress


def update(path: Path, entries: list[Entry], pipe: int) -> IndexUpdate:
    return update_index(path, BAG, entries, reporter=CommitReporter(pipe))


if __name__ == "__main__":
    kill_writers(Path(sys.argv[1]))
    kill_updates(Path(sys.argv[1]))
