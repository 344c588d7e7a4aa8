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
from malmoi.encode.static.token_lookup import TokenLookup, Tokens
from malmoi.encode.tokens.chunks import CHUNK_CHARACTERS, chunks, prepare_ahead
from malmoi.encode.tokens.inputs import Text, single_text
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.encode.tokens.tokenizer import BYTE_TOKENS, UNKNOWN_TOKENS, WORD_START
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.text_inputs import TextLike
from malmoi.vectors import l2_normalize

CHUNK_TEXTS = 4096  # texts that are pooled together
CHUNKS_WITHOUT_KERNEL = 4  # pooled by NumPy: importing Numba takes longer
MAX_TOKENS_WITHOUT_KERNEL = 1 << 14  # of a text


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
            is_due = number >= CHUNKS_WITHOUT_KERNEL or self.lookup.is_compiled
            yield self.pool(offsets, ids, compiled=is_due)
        reporter.inputs(self.name, stats)

    def token_ids(self, texts: Sequence[str]) -> Tokens:
        """The ids of the tokens that are averaged, and the offsets of texts in them."""
        return self._tokenize(texts, TextStats())

    def pool(self, offsets: Int64Array, ids: Int32Array, *, compiled: bool) -> Float32Array:
        """The vectors of texts by their token ids, [texts, dim]."""
        if compiled or np.diff(offsets).max(initial=0) > MAX_TOKENS_WITHOUT_KERNEL:
            from malmoi.kernels.static.pool_rows import pool_rows

            means = pool_rows(offsets, ids, self.parts.table)
        else:
            means = mean_rows(offsets, ids, self.parts.table)
        return l2_normalize(means) if self.parts.normalize else means

    @cached_property
    def is_unknown(self) -> BoolArray:
        """For each token whether it is the unknown one, or a byte of an unknown character."""
        names = (*UNKNOWN_TOKENS, *BYTE_TOKENS, WORD_START)
        ids = map(self.parts.tokenizer.token_to_id, names)
        unknown = np.zeros(len(self.parts.table), bool)
        unknown[[each for each in ids if each is not None]] = True
        return unknown

    @cached_property
    def _unk_token_ids(self) -> list[int]:
        ids = map(self.parts.tokenizer.token_to_id, UNKNOWN_TOKENS)
        return [each for each in ids if each is not None]

    def _tokenize(self, texts: Sequence[Text], stats: TextStats) -> Tokens:
        strings = list(map(single_text, texts))
        if self.parts.max_length is None:
            offsets, ids = self.lookup(strings)
        else:
            offsets, ids = self._truncated(strings, self.parts.max_length, stats)
        known = np.concatenate([[0], np.cumsum(~self.is_unknown[ids])])[offsets]
        for i in np.flatnonzero(np.diff(known) == 0).tolist():
            kind = stats.unknown if strings[i].strip() else stats.empty
            kind.append(stats.texts + i + 1)
        stats.texts += len(texts)
        if self.parts.skips_unknown and self._unk_token_ids:
            offsets, ids = keep(offsets, ids, ~np.isin(ids, self._unk_token_ids))
        return offsets, ids

    def _truncated(self, texts: list[str], limit: int, stats: TextStats) -> Tokens:
        """At most `limit` tokens of each text, and characters of the median token times that.

        So does model2vec. Texts that are longer are counted.
        """
        characters = self._median_token_length * limit
        offsets, ids = self.lookup([text[:characters] for text in texts])
        counts = np.diff(offsets)
        long = (counts > limit) | (np.array(list(map(len, texts))) > characters)
        stats.truncated += (stats.texts + 1 + np.flatnonzero(long)).tolist()
        positions = np.arange(len(ids)) - np.repeat(offsets[:-1], counts)
        return keep(offsets, ids, positions < limit)

    @cached_property
    def _median_token_length(self) -> int:
        return int(np.median([len(token) for token in self.parts.tokenizer.get_vocab()]))

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
    """The mean of each text's rows, [texts, dim]; zeros for a text without tokens.

    Adds the first tokens of all texts, then the second ones: the same bits as the kernel.
    """
    counts = np.diff(offsets)
    order = np.argsort(-counts, kind="stable")
    starts, counts = offsets[:-1][order], counts[order]
    sums = np.zeros((len(counts), table.shape[1]), np.float32)
    for position in range(int(counts.max(initial=0))):
        longer = int(np.searchsorted(-counts, -position))  # texts with more tokens than that
        sums[:longer] += table[ids[starts[:longer] + position]]
    means = np.empty_like(sums)
    means[order] = sums / np.maximum(counts, 1).astype(np.float32)[:, np.newaxis]
    return means


def keep(offsets: Int64Array, ids: Int32Array, kept: BoolArray) -> Tokens:
    """Only some of the tokens, and the new offsets of texts."""
    ends: Int64Array = np.concatenate([[0], np.cumsum(kept)])
    return ends[offsets], ids[kept]
