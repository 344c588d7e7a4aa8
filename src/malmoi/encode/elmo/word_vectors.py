"""WordVectors: the vectors of words by their characters, computed once per distinct word and kept.

Words do not depend on context before the first LSTM, and most tokens of a text are frequent words.
The memory is bounded: words that were not used for longest make room for new ones.
"""

from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.runtime.batches import thread_per_core
from malmoi.text.character_ids import PADDING

MAX_BYTES = 128 << 20  # of the vectors that are kept
BLOCK_WORDS = 256  # words that are computed together, of similar length

CharacterIds = npt.NDArray[np.integer[Any]]  # [words, characters]


class WordVectors:
    """Vectors of words, as `compute` makes them of character ids; threads may share them."""

    def __init__(
        self, compute: Callable[[Int64Array], Float32Array], dim: int, max_bytes: int = MAX_BYTES
    ) -> None:
        self._compute, self._dim = compute, dim
        self._max_words = max(1, max_bytes // (4 * dim))
        self._kept: dict[bytes, Float32Array] = {}  # the word that was not used for longest first
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, texts: Iterable[CharacterIds]) -> None:
        """Compute and keep all new words of texts, on all cores."""
        new = {key for ids in texts for key in _keys(ids) if key not in self._kept}
        blocks = _blocks(sorted(new, key=_length))
        if len(blocks) > 1:
            with thread_per_core() as threads:
                for _ in threads.map(self._compute_block, blocks):
                    pass
        elif blocks:
            self._compute_block(blocks[0])

    def of(self, ids: CharacterIds) -> Float32Array:
        """The vectors of words with these character ids, [words, dim]."""
        keys = _keys(ids)
        known = self._known(dict.fromkeys(keys))
        missing = sorted((key for key in dict.fromkeys(keys) if key not in known), key=_length)
        for block in _blocks(missing):
            known |= self._compute_block(block)
        rows = np.empty((len(keys), self._dim), np.float32)
        for i, key in enumerate(keys):
            rows[i] = known[key]
        return rows

    def _known(self, keys: Iterable[bytes]) -> dict[bytes, Float32Array]:
        """Those of these words that are kept; they are the latest used now."""
        with self._lock:
            known = {key: self._kept.pop(key) for key in keys if key in self._kept}
            self._kept |= known
        return known

    def _compute_block(self, keys: Sequence[bytes]) -> dict[bytes, Float32Array]:
        """Compute some words and keep them in the place of others."""
        ids = np.frombuffer(b"".join(keys), np.int16).reshape(len(keys), -1)
        rows = self._compute(ids.astype(np.int64))
        fresh = {key: row.copy() for key, row in zip(keys, rows, strict=True)}
        with self._lock:
            self._kept |= fresh
            for key in list(self._kept)[: max(0, len(self._kept) - self._max_words)]:
                del self._kept[key]
        return fresh


def word_lengths(ids: CharacterIds) -> Int64Array:
    """The characters of each word with its begin and end: all before the padding, [words]."""
    lengths: Int64Array = (ids != PADDING).sum(axis=1)
    return lengths


def _keys(ids: CharacterIds) -> list[bytes]:
    return [row.tobytes() for row in ids.astype(np.int16)]


def _length(key: bytes) -> int:
    return int((np.frombuffer(key, np.int16) != PADDING).sum())


def _blocks(keys: Sequence[bytes]) -> list[Sequence[bytes]]:
    return [keys[first : first + BLOCK_WORDS] for first in range(0, len(keys), BLOCK_WORDS)]
