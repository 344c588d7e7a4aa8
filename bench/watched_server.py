"""`python -m bench.watched_server NAME=PATH …`: our server, and how long its event loop is held.

Prints its address; then, for each line read, for how many microseconds no task of the loop could
run at the longest since the line before, and how many bytes of memory the process has at its peak.
Of the time between two turns of a task, no more counts than this process had of processors: the
loop is not held while other programs run.
"""

import asyncio
import sys
import threading
from time import perf_counter, process_time

from bench.probe import memory_field
from malmoi.serve.server import PreparedServer, ServerSettings, prepare, run
from malmoi.serve.service.loaded_models import parse_model_paths

PAUSE = 0.001  # seconds between two looks


class Watch:
    """A task that looks at the clock whenever it gets its turn."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def look(self) -> None:
        """Look for ever."""
        last, used = perf_counter(), process_time()
        while True:
            await asyncio.sleep(PAUSE)
            now, using = perf_counter(), process_time()
            self.longest = max(self.longest, min(now - last - PAUSE, using - used))
            last, used = now, using

    def answer(self) -> None:
        """Print what was seen for each line that is read."""
        for _ in sys.stdin:
            longest, self.longest = self.longest, 0.0
            print(int(longest * 1e6), memory_field("status", "VmHWM"), flush=True)


def main(words: list[str]) -> None:
    """Serve until told to stop."""
    watch, tasks = Watch(), list[asyncio.Task[None]]()
    prepared = prepare(
        parse_model_paths(tuple(words)), ServerSettings(port=0, quiet=True, allow_token_ids=True)
    )

    def announce(prepared: PreparedServer = prepared) -> None:
        tasks.append(asyncio.get_running_loop().create_task(watch.look()))
        print(prepared.address, flush=True)

    threading.Thread(target=watch.answer, daemon=True).start()
    run(prepared, announce)


if __name__ == "__main__":
    main(sys.argv[1:])
