"""What must be looked at from inside a fresh process: `python -m bench.probe WHAT FILE …`.

Memory is read from /proc. Not from `getrusage`: a child's `ru_maxrss` starts at the size of
the process that started it (Linux keeps it over exec), which here is larger than what is
measured, so that growth would show as nothing.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

KIBI = 1024


def load_ours(path: str) -> object:
    """A fastText model by malmoi."""
    import malmoi

    return malmoi.load(path)


def load_peer(path: str) -> object:
    """A fastText model by gensim."""
    from gensim.models.fasttext import load_facebook_vectors

    found: Any = load_facebook_vectors(path)
    return found


LOADERS: dict[str, Callable[[str], object]] = {"malmoi": load_ours, "gensim": load_peer}


def print_growth(load: Callable[[str], object], small: str, large: str) -> None:
    """By how much memory grows at its peak while a file is loaded, in bytes.

    The small file first: imports and compiled kernels are not part of it.
    """
    load(small)
    before = memory_field("status", "VmRSS")
    with suppress(OSError):  # where that is not allowed, the peak can only show as higher
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew from here
    held = load(large)
    print(memory_field("status", "VmHWM") - before, flush=True)
    del held


def print_private(small: str, large: str) -> None:
    """How much memory of its own this process takes for a mapped file, once asked for.

    Prints one number when every page has been touched, then at each line read the growth of
    private memory: pages that another process maps too are shared, not private.
    """
    import malmoi

    malmoi.load(small).matrix.sum()
    before = private()
    vectors = malmoi.load(large)
    print(int(vectors.matrix.sum() > 0), flush=True)
    for _ in sys.stdin:
        print(private() - before, flush=True)


def private() -> int:
    """Bytes that this process shares with nobody."""
    return sum(memory_field("smaps_rollup", f"Private_{kind}") for kind in ("Clean", "Dirty"))


def memory_field(file: str, name: str) -> int:
    """A field of /proc/self/`file` in bytes."""
    for line in Path("/proc/self", file).read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * KIBI
    raise LookupError(f"/proc/self/{file} has no {name}")


if __name__ == "__main__":
    _, what, *files = sys.argv
    if what == "private":
        print_private(*files)
    else:
        print_growth(LOADERS[what], *files)
