"""WordVectors: the vectors of words by their characters, computed once per distinct word and kept.

Words do not depend on context before the first LSTM, and most tokens of a text are frequent words.
The memory is bounded: words that were not used for longest make room for new ones.
"""

from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int64Array

MAX_BYTES = 128 << 20  # of the vectors that are kept
BLOCK_WORDS = 1024  # new words that are computed together

CharacterIds = npt.NDArray[np.integer[Any]]  # [words, characters]


class WordVectors:
    """Vectors of words, as `compute` makes them of character ids."""

    def __init__(
        self, compute: Callable[[Int64Array], Float32Array], dim: int, max_bytes: int = MAX_BYTES
    ) -> None:
        self._compute, self._dim = compute, dim
        self._max_words = max(1, max_bytes // (4 * dim))
        self._kept: dict[bytes, Float32Array] = {}  # the word that was not used for longest first
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, ids: CharacterIds) -> Float32Array:
        """The vectors of words with these character ids, [words, dim]."""
        keys = [row.tobytes() for row in ids.astype(np.int16)]
        position: dict[bytes, int] = {}
        for i, key in enumerate(keys):
            position.setdefault(key, i)
        known = self._known(position)
        missing = [key for key in position if key not in known]
        for first in range(0, len(missing), BLOCK_WORDS):
            some = missing[first : first + BLOCK_WORDS]
            rows = self._compute(ids[[position[key] for key in some]].astype(np.int64))
            fresh = dict(zip(some, rows, strict=True))
            known |= fresh
            self._keep(fresh)
        rows = np.empty((len(keys), self._dim), np.float32)
        for i, key in enumerate(keys):
            rows[i] = known[key]
        return rows

    def _known(self, keys: dict[bytes, int]) -> dict[bytes, Float32Array]:
        """Those of these words that are kept; they are the latest used now."""
        with self._lock:
            known = {key: self._kept.pop(key) for key in keys if key in self._kept}
            self._kept |= known
        return known

    def _keep(self, fresh: dict[bytes, Float32Array]) -> None:
        with self._lock:
            self._kept |= {key: row.copy() for key, row in fresh.items()}
            for key in list(self._kept)[: max(0, len(self._kept) - self._max_words)]:
                del self._kept[key]
