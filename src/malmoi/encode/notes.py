"""What happened to texts on their way into a model: cut off, or empty. Counted, and reported."""

import warnings
from dataclasses import dataclass
from typing import Any

from malmoi.encode.cutting import MOST_SPECIAL, Cutter
from malmoi.errors import MalmoiWarning


@dataclass
class Notes:
    """Counts over any number of batches."""

    cutter: Cutter
    texts: int = 0
    truncated: int = 0
    empty: int = 0

    def count(self, encodings: list[Any]) -> None:
        """Look at texts that were cut."""
        self.texts += len(encodings)
        self.truncated += sum(map(self.cutter.is_truncated, encodings))
        short = (encoding for encoding in encodings if len(encoding) <= MOST_SPECIAL)
        self.empty += sum(all(encoding.special_tokens_mask) for encoding in short)

    def report(self, name: str) -> None:
        """Warn of what was counted."""
        found = {
            f"longer than {self.cutter.longest} pieces: the rest was left out": self.truncated,
            "without a single piece of text: their vectors mean nothing": self.empty,
        }
        for what, count in found.items():
            if count:
                text = f"{name}: {count:,} of {self.texts:,} texts are {what}"
                warnings.warn(text, MalmoiWarning, stacklevel=3)
