"""Texts that were cut, run in batches on all cores, and put back into their order.

Many batches run one on each core; a single one has all cores to itself.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.checkpoint.config import Config
from malmoi.encode.checkpoint.weights import is_finite
from malmoi.encode.runtime.batches import PackedBatch, batches, pack
from malmoi.encode.runtime.engine import AutoEngine
from malmoi.errors import InvalidFileError
from malmoi.kernels.threads import THREADS

Result = TypeVar("Result")
Then = Callable[[list[Float32Array], list[Any]], Iterable[Result]]


def run_batches(
    engine: AutoEngine,
    config: Config,
    encodings: list[Any],
    layers: Sequence[int],
    then: Then[Result],
) -> list[Result]:
    """What `then` makes of each text, given the states [pieces, dim] and texts of a batch."""
    results: list[Result | None] = [None] * len(encodings)
    sizes = np.array([len(encoding) for encoding in encodings], np.int64)
    groups = list(batches(sizes))
    engine.expect(int(sizes.sum()))

    def run(group: Int64Array) -> None:
        texts = [encodings[i] for i in group]
        states = run_batch(engine, config, texts, layers, THREADS if len(groups) == 1 else 1)
        for i, result in zip(group.tolist(), then(states, texts), strict=True):
            results[i] = result

    if len(groups) == 1:
        run(groups[0])
    else:
        with thread_a_core() as pool:
            for _ in pool.map(run, groups):
                pass
    return results  # type: ignore[return-value]


def run_batch(
    engine: AutoEngine, config: Config, texts: list[Any], layers: Sequence[int], threads: int
) -> list[Float32Array]:
    """The states of texts that go together, each [pieces of all texts, dim]."""
    filled = [text for text in texts if len(text)]  # a tokenizer may add nothing to an empty text
    if not filled:
        return [np.empty((0, config.dim), np.float32) for _ in layers]
    segments = [_segments(text, config) for text in filled]
    batch = pack([text.ids for text in filled], segments, config.places, config.padding)
    _refuse_beyond(batch, config)
    states = engine.run(batch, layers, threads)
    if not all(map(is_finite, states)):
        raise InvalidFileError(
            "the model's hidden states hold NaN or infinity: a row of its tables, or what follows"
            " from it, is no number; get the model again"
        )
    return states


def _refuse_beyond(batch: PackedBatch, config: Config) -> None:
    """Refuse numbers beyond the tables, where an engine would read what it likes."""
    highest, last = int(batch.ids.max()), int(batch.places.max())
    if highest >= config.vocabulary:
        raise InvalidFileError(
            f"the tokenizer has a piece numbered {highest:,}, but its model knows"
            f" {config.vocabulary:,}: they do not belong together"
        )
    if last >= max(config.segments, 1) * config.places:
        raise InvalidFileError(
            f"the tokenizer has segments beyond the {config.segments} that its model knows:"
            " they do not belong together"
        )


@contextmanager
def thread_a_core() -> Iterator[ThreadPoolExecutor]:
    """Threads to share work among; once anything goes wrong, nothing more is begun."""
    pool = ThreadPoolExecutor(THREADS)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _segments(encoding: Any, config: Config) -> Sequence[int]:
    """The segment of each piece, where the model tells segments apart."""
    found: Sequence[int] = encoding.type_ids
    return found if config.segments > 1 else [0] * len(found)
