"""Batches of texts of similar length, packed without padding and run on all cores.

All steps that work token by token run on one matrix [tokens, dim]; where attention needs a padded
view [texts, longest], `pad` and `unpad` convert. Several batches run one per core; a single batch
uses all cores.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Protocol, TypeVar

import numpy as np

from malmoi.arrays import BoolArray, Float32Array, Int32Array, Int64Array
from malmoi.encode.checkpoint.config import Config
from malmoi.encode.checkpoint.weights import is_finite
from malmoi.encode.pooling.groups import group_bounds
from malmoi.errors import InvalidFileError
from malmoi.kernels.threads import THREADS

MAX_BATCH_TOKENS = 512

Result = TypeVar("Result")
Finish = Callable[[list[Float32Array], list[Any]], Iterable[Result]]  # states, encodings → results


@dataclass(frozen=True, eq=False)
class PackedBatch:
    """The tokens of several texts in one row.

    `positions` are rows of the combined position and segment embeddings; `sizes` are the numbers
    of tokens of the texts.
    """

    token_ids: Int32Array
    positions: Int32Array
    sizes: Int64Array

    @cached_property
    def is_token(self) -> BoolArray:
        """Which cells of the padded view hold a token, [texts, longest]."""
        return np.arange(self.sizes.max()) < self.sizes[:, np.newaxis]

    @property
    def attention_mask(self) -> Int32Array:
        """The same as 0 and 1."""
        return self.is_token.astype(np.int32)

    @property
    def pad(self) -> Int32Array:
        """The token of each cell of the padded view, [texts, longest]; 0 for padding."""
        starts = group_bounds(self.sizes)[:-1, np.newaxis]
        return np.where(self.is_token, starts + np.arange(self.sizes.max()), 0).astype(np.int32)

    @property
    def unpad(self) -> Int32Array:
        """The cell of each token in the flattened padded view, [tokens]."""
        return np.flatnonzero(self.is_token).astype(np.int32)


class BatchEngine(Protocol):
    """The part of an engine that runs batches of encoded texts."""

    @property
    def dim(self) -> int:
        """The dimension of a token's vector."""

    def prepare(self, encodings: Sequence[Any]) -> None:
        """Get ready for all texts of a call, before they are run in batches."""

    def batches(self, sizes: Int64Array) -> Iterator[Int64Array]:
        """The texts of each batch, from the numbers of their tokens."""

    def run_texts(
        self, encodings: Sequence[Any], layers: Sequence[int], threads: int
    ) -> list[Float32Array]:
        """The hidden states of these layers, each [tokens of all texts, dim], in this order."""


def pack(
    token_ids: Sequence[Sequence[int]],
    token_type_ids: Sequence[Sequence[int]],
    positions: int,
    pad_token_id: int = -1,
) -> PackedBatch:
    """Pack texts into a batch; `positions` is the number of position rows per segment.

    With a `pad_token_id`, tokens with this id have position 0, and all others count from 1.
    """
    sizes = np.array([len(text) for text in token_ids], np.int64)
    bounds = group_bounds(sizes)
    flat_ids = np.array(list(chain.from_iterable(token_ids)), np.int32)
    rows = positions * np.array(list(chain.from_iterable(token_type_ids)), np.int32)
    if pad_token_id < 0:
        rows += np.arange(len(flat_ids), dtype=np.int32) - bounds[:-1].repeat(sizes)
    else:
        is_counted = flat_ids != pad_token_id
        counts = group_bounds(is_counted)
        rows += (counts[1:] - counts[bounds[:-1]].repeat(sizes)) * is_counted
    return PackedBatch(flat_ids, rows, sizes)


def batches(
    sizes: Int64Array, max_tokens: int = MAX_BATCH_TOKENS, max_texts: int | None = None
) -> Iterator[Int64Array]:
    """The texts of each batch: longest first, up to `max_tokens`, at least one text."""
    order = np.argsort(-sizes, kind="stable")
    first = total = 0
    for i, text in enumerate(order.tolist()):
        if i > first and (total + sizes[text] > max_tokens or i - first == max_texts):
            yield order[first:i]
            first, total = i, 0
        total += int(sizes[text])
    if len(order):
        yield order[first:]


def run_batches(
    engine: BatchEngine, encodings: list[Any], layers: Sequence[int], finish: Finish[Result]
) -> list[Result]:
    """Run encoded texts; `finish(states, encodings)` makes one result per text of a batch.

    Args:
        engine: The engine that runs the model.
        encodings: One encoding per text, with `ids`, `type_ids` and a length.
        layers: The hidden states to compute, each [tokens, dim].
        finish: Makes results of the states and encodings of one batch.

    Returns:
        One result per text, in the order of the encodings.
    """
    results: list[Result | None] = [None] * len(encodings)
    engine.prepare(encodings)
    sizes = np.array([len(encoding) for encoding in encodings], np.int64)
    groups = list(engine.batches(sizes))

    def run(group: Int64Array) -> None:
        texts = [encodings[i] for i in group]
        states = run_batch(engine, texts, layers, THREADS if len(groups) == 1 else 1)
        for i, result in zip(group.tolist(), finish(states, texts), strict=True):
            results[i] = result

    if len(groups) == 1:
        run(groups[0])
    else:
        with thread_per_core() as threads:
            for _ in threads.map(run, groups):
                pass
    return results  # type: ignore[return-value]


def run_batch(
    engine: BatchEngine, encodings: list[Any], layers: Sequence[int], threads: int
) -> list[Float32Array]:
    """The hidden states of one batch, each [tokens of all texts, dim]."""
    nonempty = [each for each in encodings if len(each)]  # some tokenizers add nothing to ""
    if not nonempty:
        return [np.empty((0, engine.dim), np.float32) for _ in layers]
    states = engine.run_texts(nonempty, layers, threads)
    if not all(map(is_finite, states)):
        raise InvalidFileError(
            "the model's hidden states contain NaN or infinity, so its weights are damaged:"
            " download the model again"
        )
    return states


def pack_texts(encodings: Sequence[Any], config: Config) -> PackedBatch:
    """The token ids of encoded texts, as a transformer with these sizes reads them.

    Raises:
        InvalidFileError: An id is beyond the embeddings, where an engine would read garbage.
    """
    token_type_ids = [_token_type_ids(each, config) for each in encodings]
    ids = [each.ids for each in encodings]
    batch = pack(ids, token_type_ids, config.position_rows, config.pad_token_id)
    max_id, max_position = int(batch.token_ids.max()), int(batch.positions.max())
    if max_id >= config.vocab_size:
        raise InvalidFileError(
            f"the tokenizer produces the token id {max_id:,}, but the model has"
            f" {config.vocab_size:,} token embeddings: they do not belong together"
        )
    if max_position >= max(config.segments, 1) * config.position_rows:
        raise InvalidFileError(
            f"the tokenizer produces more token types than the {config.segments} of the model:"
            " they do not belong together"
        )
    return batch


@contextmanager
def thread_per_core() -> Iterator[ThreadPoolExecutor]:
    """A thread pool; after an exception no further work starts."""
    threads = ThreadPoolExecutor(THREADS)
    try:
        yield threads
    finally:
        threads.shutdown(cancel_futures=True)


def _token_type_ids(encoding: Any, config: Config) -> Sequence[int]:
    """The segment of each token; 0 for models without segments."""
    type_ids: Sequence[int] = encoding.type_ids
    return type_ids if config.segments > 1 else [0] * len(type_ids)
