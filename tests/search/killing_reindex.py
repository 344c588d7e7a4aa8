"""Changes of a model that kill themselves at random moments: run by `test_reindex`.

Five runs end while they embed, one at each step of the switch, and one at any moment after the
switch has begun.
"""

import os
import random
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from malmoi.arrays import Float32Array
from malmoi.search import writer
from malmoi.search.build import build_index, open_index
from malmoi.search.index import Index
from malmoi.search.reindex.reindexing import checkpoint_path, reindex
from malmoi.search.storage.folder import Folder
from malmoi.search.storage.segment import Segment, write_segment
from malmoi.search.storage.state import State
from tests.search.worlds import BagOfWords

TEXTS, EMBEDDING = 600, 5  # texts, and runs that are killed while they embed
OLD, NEW = BagOfWords("old", 16), BagOfWords("new", 24)
QUERIES = ("w3 w5", "w11", "text w7")
SWITCH = ("begun", "segment written", "manifest written", "committed", "any")


def main(folder: Path) -> None:
    path, chance = folder / "index", random.Random(5)
    writer.COMMIT_EVERY, writer.BATCH_TEXTS = 0.0, 20
    texts = [f"text w{i % 13} w{i % 7} w{i}" for i in range(TEXTS)]
    old, new = build_index(OLD, texts, path=path), build_index(NEW, texts)
    kept = 0
    for _ in range(EMBEDDING):
        calls = chance.randint(4, 7)
        killed(path, lambda: kill_at_call(calls))  # noqa: B023
        assert not is_switched(path, old, new)
        done = Folder(checkpoint_path(path)).read().count
        assert kept < done < TEXTS, "nothing was kept"
        kept = done
    writer.COMMIT_EVERY = 10.0
    for step in SWITCH:
        killed(path, lambda: kill_at_step(path, step, chance.uniform(0, 0.05)))  # noqa: B023
        switched = is_switched(path, old, new)
        assert step == "any" or switched == (step in SWITCH[2:]), step
        if switched:
            reindex(path, OLD)
            assert not is_switched(path, old, new)
    reindex(path, NEW)
    assert is_switched(path, old, new)
    left = {each.name for each in path.iterdir()}
    named = {segment.name for segment in Folder(path).read().segments}
    assert left == {*named, "manifest.json", "lock"}, left
    assert [each.name for each in folder.iterdir()] == ["index"]
    sys.stdout.write(f"{EMBEDDING + len(SWITCH)} runs killed\n")


def is_switched(path: Path, old: Index, new: Index) -> bool:
    """Whether the new model answers; all answers are those of the one or the other index."""
    switched = open_index(path).state.model == "new"
    expected, again = (new, NEW) if switched else (old, OLD)
    opened = open_index(path, again)
    for query in QUERIES:
        found = [(hit.id, hit.text) for hit in opened.search(query)]
        assert found == [(hit.id, hit.text) for hit in expected.search(query)], query
    return switched


def killed(path: Path, prepare: Callable[[], None]) -> None:
    """Run in a process that `prepare` makes kill itself."""
    child = os.fork()
    if child == 0:
        try:
            prepare()
            reindex(path, NEW)
            signal.pause()  # for a timer
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), status


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_at_call(calls: int) -> None:
    """Die at a call of the encoder."""
    word, left = BagOfWords.word, [calls * 20 * 4]  # words of so many batches

    def count(encoder: BagOfWords, text: str) -> Float32Array:
        left[0] -= 1
        if left[0] == 0:
            kill()
        return word(encoder, text)

    pytest.MonkeyPatch().setattr(BagOfWords, "word", count)


def kill_at_step(path: Path, step: str, moment: float) -> None:
    """Die at a step of the commit that switches."""
    commit, write, remove = Folder.commit, write_segment, Folder._remove_unnamed

    def patched_commit(folder: Folder, state: State) -> State:
        if folder.path != path:
            return commit(folder, state)
        if step == "begun":
            kill()
        if step == "any":
            threading.Timer(moment, kill).start()
        done = commit(folder, state)
        if step == "committed":
            kill()
        return done

    def patched_write(segment: Segment, to: Path) -> None:
        write(segment, to)
        if step == "segment written" and to.parent == path:
            kill()

    def patched_remove(folder: Folder, named: set[str]) -> None:
        if step == "manifest written" and folder.path == path:
            kill()
        remove(folder, named)

    patch = pytest.MonkeyPatch()
    patch.setattr(Folder, "commit", patched_commit)
    patch.setattr(Folder, "_remove_unnamed", patched_remove)
    patch.setattr("malmoi.search.storage.folder.write_segment", patched_write)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
