"""Processes that kill themselves at a random moment soon after a checkpoint.

A test that kills from outside depends on who runs first on a busy machine.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# After the first or the second checkpoint, and up to a tenth of a second more.
KILL_ITSELF = """
import os, random, signal, sys, threading
from malmoi.files import checkpoint
chance = random.Random(os.environ["KILLED_WITH_SEED"])
kill = threading.Timer(chance.uniform(0, 0.1), os.kill, (os.getpid(), signal.SIGKILL))
saves_left = chance.randint(1, 2)
save = checkpoint.Checkpointer.save
def save_and_count(*given):
    global saves_left
    save(*given)
    saves_left -= 1
    if saves_left == 0:
        kill.start()
checkpoint.Checkpointer.save = save_and_count
"""


def run_until_killed(program: str, command: Sequence[str], seed: int) -> None:
    """Run a program that saves checkpoints often; that it ends in another way is an error."""
    done = subprocess.run(
        [sys.executable, "-c", KILL_ITSELF + program, *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=300,
        env={**os.environ, "KILLED_WITH_SEED": str(seed)},
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


def leave_files_of_a_killed_run(out: str) -> list[Path]:
    """What a process leaves that is killed between saving its folder and cleaning up."""
    left = [Path(f"{out}.checkpoint"), Path(f".{out}.lock"), Path(f"{out}.teacher")]
    for path in left:
        path.write_bytes(b"left")
        os.utime(path, (0, 0))
    return left
