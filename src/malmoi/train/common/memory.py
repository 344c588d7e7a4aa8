"""How much memory a training needs: reported beforehand, and refused where it does not fit."""

import os
from pathlib import Path

from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter


def require_memory(num_bytes: int, reporter: Reporter = DEFAULT_REPORTER) -> None:
    """Report how many bytes will be allocated; `InvalidArgumentError` if they are not free."""
    reporter.memory(num_bytes)
    check_memory(num_bytes)


def check_memory(num_bytes: int) -> None:
    """Raise `InvalidArgumentError` unless so many bytes are free."""
    free = free_memory()
    if free is not None and num_bytes > free:
        raise InvalidArgumentError(
            f"training needs {in_megabytes(num_bytes)} of memory and {in_megabytes(free)} are"
            " free: choose a smaller dim, fewer words (a larger min_count), fewer buckets for"
            " n-grams or fewer epochs"
        )


def free_memory() -> int | None:
    """How many bytes can be allocated without swapping; None if the system does not report it."""
    try:
        meminfo = Path("/proc/meminfo").read_text()
    except OSError:
        pages = os.sysconf_names.get("SC_AVPHYS_PAGES")
        return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE") if pages is not None else None
    fields = dict(line.split(":", 1) for line in meminfo.splitlines())
    return int(fields["MemAvailable"].split()[0]) * 1024


def in_megabytes(num_bytes: int) -> str:
    """A number of bytes for people: `1,234 MB`."""
    return f"{num_bytes / 1e6:,.0f} MB"
