"""What there is to embed, seen in one pass before the long work: how many texts, and which.

Whatever cannot be read is found here, and not after an hour.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import Progress, ProgressTexts, no_progress


@dataclass(frozen=True, eq=False)
class InputScan:
    """`digest` names the texts and their order; `undecoded` of them had bytes that are no text.

    `characters` are those of all texts. `repeats` are the texts that came before already,
    numbered from 0, where that was asked for.
    """

    texts: int
    characters: int
    digest: str
    undecoded: int
    repeats: npt.NDArray[np.int64]

    @property
    def pieces(self) -> int:
        """How many there may be: hardly ever more than characters, and two around each text."""
        return self.characters + 2 * self.texts

    def lines(self, numbers: Iterable[int]) -> list[int]:
        """Texts numbered from 1 without repeats, as they are numbered with them."""
        if not len(self.repeats):
            return list(numbers)
        kept = np.setdiff1d(np.arange(self.texts), self.repeats, assume_unique=True)
        return [int(kept[number - 1]) + 1 for number in numbers]


def scan_texts(
    texts: Iterable[str], *, repeats: bool = False, progress: Progress = no_progress
) -> InputScan:
    """Read all texts once; they must be such as can be read again."""
    if iter(texts) is texts:
        raise InvalidArgumentError(
            "these texts can be read only once: give a list, or a Corpus's texts"
        )
    digest = blake2b(digest_size=16)
    seen: set[bytes] = set()
    again: list[int] = []
    count = characters = undecoded = 0
    read = texts.with_progress(progress) if isinstance(texts, ProgressTexts) else texts
    for count, text in enumerate(read, 1):
        if not isinstance(text, str):
            raise InvalidArgumentError(f"{text!r} is no text: give a string")
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
        characters += len(text)
        undecoded += "\ufffd" in text
        if repeats:
            mark = blake2b(encoded, digest_size=16).digest()
            if mark in seen:
                again.append(count - 1)
            seen.add(mark)
    return InputScan(count, characters, digest.hexdigest(), undecoded, np.array(again, np.int64))
