"""Notes of many batches told once: `3 of 512 texts …` and `4 of 512 texts …` are 7 of 1,024."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from malmoi.errors import MalmoiWarning

COUNTED = re.compile(r"(.*?)([\d,]+) of ([\d,]+) texts(.*)", re.DOTALL)


@contextmanager
def gathered_notes() -> Iterator[None]:
    """Warnings from inside come at the end, those that count texts added up."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            told = list(caught)
    counts: dict[tuple[str, str], list[int]] = {}
    others = dict[str, None]()
    for one in told:
        text = str(one.message)
        if not issubclass(one.category, MalmoiWarning):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        elif found := COUNTED.fullmatch(text):
            name, some, total, what = found.groups()
            sums = counts.setdefault((name, what), [0, 0])
            sums[0] += int(some.replace(",", ""))
            sums[1] += int(total.replace(",", ""))
        else:
            others[text] = None
    added = [
        f"{name}{some:,} of {total:,} texts{what}" for (name, what), (some, total) in counts.items()
    ]
    for text in [*added, *others]:
        warnings.warn(text, MalmoiWarning, stacklevel=3)
