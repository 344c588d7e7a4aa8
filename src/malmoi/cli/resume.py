"""What the commands that train for long share: going on, being interrupted, what it takes."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.errors import MalmoiWarning
from malmoi.train.checkpoint import checkpoint_path, discard_checkpoint
from malmoi.train.memory import in_megabytes

Resume = Annotated[
    bool,
    Parameter(
        negative="", show_default=False, help="Go on from the checkpoint of a broken-off training."
    ),
]


@contextmanager
def resumable(out: Path) -> Iterator[Path]:
    """Where the training that writes `out` leaves its checkpoints: gone once all is done.

    They stay when anything goes wrong; who interrupts the training is told how to go on.
    """
    path = checkpoint_path(out)
    try:
        yield path
    except KeyboardInterrupt:
        if path.exists():
            warnings.warn(
                f"{path} is kept: give the same command with --resume to go on from there",
                MalmoiWarning,
                stacklevel=2,
            )
        raise
    discard_checkpoint(path)


def say_memory(needed: int) -> None:
    """What a training is about to take."""
    print(f"training takes {in_megabytes(needed)} of memory", file=sys.stderr)
