"""Changes of a model that are killed at random moments: run by `test_reindex`.

Each run kills itself: at a random call of the encoder, or a moment after the switch has begun.
"""

import os
import random
import signal
import sys
import threading
from pathlib import Path

from malmoi.search import writer
from malmoi.search.build import build_index, open_index
from malmoi.search.reindex.reindexing import reindex
from malmoi.search.storage.folder import Folder
from malmoi.search.storage.state import State
from tests.search.worlds import BagOfWords

KILLS, TEXTS = 10, 1200
OLD, NEW = BagOfWords("old", 16), BagOfWords("new", 24)
QUERIES = ("w3 w5", "w11", "text w7")


def main(folder: Path) -> None:
    path, chance = folder / "index", random.Random(5)
    writer.COMMIT_EVERY, writer.BATCH_TEXTS = 0.0, 20
    texts = [f"text w{i % 13} w{i % 7} w{i}" for i in range(TEXTS)]
    old, new = build_index(OLD, texts, path=path), build_index(NEW, texts)
    switched = 0
    for number in range(KILLS):
        during_switch = number >= KILLS // 2
        moment = chance.uniform(0, 0.02 if during_switch else 0.15)
        killed(path, moment, during_switch=during_switch)
        now = open_index(path)
        is_new = now.state.model == "new"
        assert is_new or not switched, "the old model is back"
        switched += is_new
        expected, encoder = (new, NEW) if is_new else (old, OLD)
        again = open_index(path, encoder)
        for query in QUERIES:
            found = [(hit.id, hit.text) for hit in again.search(query)]
            assert found == [(hit.id, hit.text) for hit in expected.search(query)], query
        if is_new and number < KILLS - 1:  # once more, from the old model
            reindex(path, OLD)
            switched = 0
    reindex(path, NEW)
    assert sorted(open_index(path, NEW)) == sorted(new)
    left = {each.name for each in path.iterdir()}
    named = {segment.name for segment in Folder(path).read().segments}
    assert left == {*named, "manifest.json", "lock"}, left
    assert [each.name for each in folder.iterdir()] == ["index"]
    sys.stdout.write(f"{KILLS} runs killed\n")


def killed(path: Path, moment: float, *, during_switch: bool) -> None:
    """Run in a process that kills itself a moment after it, or its switch, has begun."""
    child = os.fork()
    if child == 0:
        kill = threading.Timer(moment, os.kill, (os.getpid(), signal.SIGKILL))
        if during_switch:
            commit = Folder.commit

            def commit_and_kill(folder: Folder, state: State) -> State:
                if folder.path == path:
                    kill.start()
                return commit(folder, state)

            Folder.commit = commit_and_kill  # type: ignore[method-assign, assignment]
        else:
            kill.start()
        try:
            reindex(path, NEW)
            kill.join()
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), status


if __name__ == "__main__":
    main(Path(sys.argv[1]))
