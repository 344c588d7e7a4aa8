"""StaticEncoder: a text is the mean of its tokens' vectors, which do not depend on context.

There is no network: a text costs a lookup per token. Tokens with longer vectors have more weight
in the mean. Such encoders are distilled from larger ones, see `distill_static`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.arrays import BoolArray, Float32Array, Int32Array, Int64Array
from malmoi.encode.checkpoint.locate import find_model
from malmoi.encode.checkpoint.static_folder import StaticParts, read_static_folder
from malmoi.encode.pipeline.encode_call import StreamEncoder
from malmoi.encode.static.token_lookup import TokenLookup
from malmoi.encode.tokens.chunks import CHUNK_CHARACTERS, chunks, prepare_ahead
from malmoi.encode.tokens.inputs import Text, single_text
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.encode.tokens.tokenizer import UNKNOWN_TOKENS
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.text_inputs import TextLike
from malmoi.vectors import l2_normalize

CHUNK_TEXTS = 4096  # texts that are pooled together
CHUNKS_WITHOUT_KERNEL = 4  # pooled by NumPy: importing Numba takes longer
BYTE_TOKENS = tuple(f"<0x{byte:02X}>" for byte in range(256))
Tokens = tuple[Int64Array, Int32Array]  # offsets of texts, ids


@dataclass(frozen=True, eq=False, repr=False)
class StaticEncoder(StreamEncoder):
    """A table of token vectors and its tokenizer; see `load_encoder`."""

    name: str
    parts: StaticParts
    lookup: TokenLookup

    @property
    def dim(self) -> int:
        """The dimension of a text's vector."""
        return int(self.parts.table.shape[1])

    def stream(
        self, texts: Iterable[TextLike], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Iterator[Float32Array]:
        """The vectors of `encode` in chunks, each as soon as it is ready."""
        stats = TextStats(max_length=self.parts.max_length or 0)
        prepared = prepare_ahead(
            lambda chunk: self._tokenize(chunk, stats), chunks(texts, CHUNK_TEXTS, CHUNK_CHARACTERS)
        )
        for number, (offsets, ids) in enumerate(prepared):
            yield self.pool(offsets, ids, compiled=number >= CHUNKS_WITHOUT_KERNEL)
        reporter.inputs(self.name, stats)

    def token_ids(self, texts: Sequence[str]) -> Tokens:
        """The ids of the tokens that are averaged, and the offsets of texts in them."""
        return self._tokenize(texts, TextStats())

    def pool(self, offsets: Int64Array, ids: Int32Array, *, compiled: bool) -> Float32Array:
        """The vectors of texts by their token ids, [texts, dim]."""
        if compiled:
            from malmoi.kernels.static.pool_rows import pool_rows

            means = pool_rows(offsets, ids, self.parts.table)
        else:
            means = mean_rows(offsets, ids, self.parts.table)
        return l2_normalize(means) if self.parts.normalize else means

    @cached_property
    def is_unknown(self) -> BoolArray:
        """For each token whether it is the unknown one, or a byte of an unknown character."""
        ids = map(self.parts.tokenizer.token_to_id, (*UNKNOWN_TOKENS, *BYTE_TOKENS))
        unknown = np.zeros(len(self.parts.table), bool)
        unknown[[each for each in ids if each is not None]] = True
        return unknown

    @cached_property
    def _unk_token_ids(self) -> list[int]:
        ids = map(self.parts.tokenizer.token_to_id, UNKNOWN_TOKENS)
        return [each for each in ids if each is not None]

    @cached_property
    def _max_characters(self) -> int | None:
        """model2vec tokenizes only so much of a text: the median token, max_length times."""
        if self.parts.max_length is None:
            return None
        lengths = [len(token) for token in self.parts.tokenizer.get_vocab()]
        return int(np.median(lengths)) * self.parts.max_length

    def _tokenize(self, texts: Sequence[Text], stats: TextStats) -> Tokens:
        strings = list(map(single_text, texts))
        if self._max_characters is not None:
            strings = [text[: self._max_characters] for text in strings]
        offsets, ids = self.lookup(strings)
        if self.parts.max_length is not None:
            offsets, ids = self._truncate(offsets, ids, stats)
        known = np.concatenate([[0], np.cumsum(~self.is_unknown[ids])])[offsets]
        for i in np.flatnonzero(np.diff(known) == 0).tolist():
            kind = stats.unknown if strings[i].strip() else stats.empty
            kind.append(stats.texts + i + 1)
        stats.texts += len(texts)
        if self.parts.skips_unknown and self._unk_token_ids:
            offsets, ids = keep(offsets, ids, ~np.isin(ids, self._unk_token_ids))
        return offsets, ids

    def _truncate(self, offsets: Int64Array, ids: Int32Array, stats: TextStats) -> Tokens:
        counts, limit = np.diff(offsets), self.parts.max_length
        long = np.flatnonzero(counts > limit)
        if not len(long):
            return offsets, ids
        stats.truncated += (stats.texts + 1 + long).tolist()
        positions = np.arange(len(ids)) - np.repeat(offsets[:-1], counts)
        return keep(offsets, ids, positions < limit)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by name: another process loads the folder again."""
        return load_static, (self.name,)

    def __repr__(self) -> str:
        return f"StaticEncoder({self.name}, {len(self.parts.table):,} tokens × {self.dim})"


def load_static(name: str) -> StaticEncoder:
    """Load a static encoder from its folder, or by its name on the Hub."""
    return static_encoder(read_static_folder(find_model(name)), name)


def static_encoder(parts: StaticParts, name: str | Path) -> StaticEncoder:
    """The encoder of a table and a tokenizer."""
    return StaticEncoder(str(name), parts, TokenLookup(parts.tokenizer))


def mean_rows(offsets: Int64Array, ids: Int32Array, table: Float32Array) -> Float32Array:
    """The mean of each text's rows, [texts, dim]; zeros for a text without tokens."""
    means = np.zeros((len(offsets) - 1, table.shape[1]), np.float32)
    counts = np.diff(offsets)
    filled = np.flatnonzero(counts)
    if len(filled):
        sums = np.add.reduceat(table[ids], offsets[:-1][filled], axis=0)
        means[filled] = sums / counts[filled, np.newaxis].astype(np.float32)
    return means


def keep(offsets: Int64Array, ids: Int32Array, kept: BoolArray) -> Tokens:
    """Only some of the tokens, and the new offsets of texts."""
    ends: Int64Array = np.concatenate([[0], np.cumsum(kept)])
    return ends[offsets], ids[kept]
