"""How much memory a training takes, said before it is taken, and refused where it does not fit."""

import os
from collections.abc import Callable
from pathlib import Path

from malmoi.errors import InvalidArgumentError

Telling = Callable[[int], None]  # takes a number of bytes


def unheard(needed: int) -> None:
    """What a training says to nobody."""


def require_memory(needed: int, tell: Telling = unheard) -> None:
    """Tell how many bytes will be taken; `InvalidArgumentError` if there are not as many."""
    tell(needed)
    free = free_memory()
    if free is not None and needed > free:
        raise InvalidArgumentError(
            f"this takes {in_megabytes(needed)} of memory and {in_megabytes(free)} are free:"
            " choose a smaller dim, fewer words (a larger min_count), fewer buckets of n-grams or"
            " fewer epochs"
        )


def free_memory() -> int | None:
    """How many bytes can be taken without swapping, where the system tells."""
    try:
        told = Path("/proc/meminfo").read_text()
    except OSError:
        pages = os.sysconf_names.get("SC_AVPHYS_PAGES")
        return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE") if pages is not None else None
    lines = dict(line.split(":", 1) for line in told.splitlines())
    return int(lines["MemAvailable"].split()[0]) * 1024


def in_megabytes(size: int) -> str:
    """A number of bytes for people."""
    return f"{size / 1e6:,.0f} MB"
