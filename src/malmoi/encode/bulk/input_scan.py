"""Reads all texts once before they are embedded: counts them and finds repeats.

Errors in the input are found here, and not after an hour of work.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from malmoi.arrays import Int64Array
from malmoi.reporting.reporter import Progress, ProgressTexts, no_progress


@dataclass(frozen=True, eq=False)
class InputScan:
    """Counts of the input; `digest` identifies the texts and their order.

    `undecoded` texts contain U+FFFD for bytes that could not be decoded. `repeats` are the
    positions from 0 of texts that occurred before, if they were looked for.
    """

    texts: int
    characters: int
    digest: str
    undecoded: int
    repeats: Int64Array

    @property
    def max_tokens(self) -> int:
        """An upper bound in practice: one token per character, and two around each text."""
        return self.characters + 2 * self.texts

    def original_positions(self, positions: Iterable[int]) -> list[int]:
        """Positions from 1 among texts without repeats, as positions among all texts."""
        if not len(self.repeats):
            return list(positions)
        kept = np.setdiff1d(np.arange(self.texts), self.repeats, assume_unique=True)
        return [int(kept[position - 1]) + 1 for position in positions]


def scan_texts(
    texts: Iterable[str], *, repeats: bool = False, progress: Progress = no_progress
) -> InputScan:
    """Read all texts once; they can be iterated repeatedly."""
    digest = blake2b(digest_size=16)
    seen: set[bytes] = set()
    repeated: list[int] = []
    count = characters = undecoded = 0
    source = texts.with_progress(progress) if isinstance(texts, ProgressTexts) else texts
    for count, text in enumerate(source, 1):
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
        characters += len(text)
        undecoded += "\ufffd" in text
        if repeats:
            key = blake2b(encoded, digest_size=16).digest()
            if key in seen:
                repeated.append(count - 1)
            seen.add(key)
    return InputScan(count, characters, digest.hexdigest(), undecoded, np.array(repeated, np.int64))
