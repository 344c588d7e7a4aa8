"""TrainOptions: the vectors a training starts from, its checkpoints, and a callback per epoch."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arguments import expect
from malmoi.arrays import BoolArray, Int64Array
from malmoi.errors import InvalidArgumentError
from malmoi.files.checkpoint import Checkpointer, RunFingerprint
from malmoi.keys import Keys
from malmoi.reporting.reporter import Reporter
from malmoi.train.common.epochs import OnEpochEnd
from malmoi.vectors import Vectors, expect_vectors
from malmoi.vocabulary import Vocabulary


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """Where a training starts, and where it saves its state.

    Attributes:
        init_vectors: Words that these vectors contain start from them, others at random.
        freeze: Keep the words of `init_vectors` at their vectors, bit for bit: all of them, or
            those that this collection names.
        update: Keep all words of `init_vectors`, also those that the new text lacks.
        checkpoint: File that the state of the training is written to every minute and when it
            is interrupted. It stays there: delete it once the result is saved.
        resume: Continue from `checkpoint`, with the same text and settings.
        on_epoch_end: Called after each epoch with an `EpochEnd`: its number, its loss and the
            vectors so far. If it raises `StopTraining`, the vectors so far are the result.

    Raises:
        InvalidArgumentError: `freeze` or `update` without `init_vectors`.
    """

    init_vectors: Vectors | None = None
    freeze: bool | Collection[str] = False
    update: bool = False
    checkpoint: str | Path | None = None
    resume: bool = False
    on_epoch_end: OnEpochEnd | None = None

    def __post_init__(self) -> None:
        if self.init_vectors is not None:
            expect_vectors(self.init_vectors, "init_vectors")
        if self.init_vectors is None and (self.freeze or self.update):
            name = "freeze" if self.freeze else "update"
            raise InvalidArgumentError(f"{name} needs init_vectors: give the vectors to start from")
        if isinstance(self.freeze, str):
            raise InvalidArgumentError(
                f"freeze is the string '{self.freeze}': give a list of words"
            )

    def is_frozen(self, keys: Keys) -> BoolArray:
        """Which of these words `freeze` names, whether or not they are in `init_vectors`."""
        frozen = np.full(len(keys), self.freeze is True)
        if not isinstance(self.freeze, bool):
            rows = keys.find_all(self.freeze)
            frozen[rows[rows >= 0]] = True
        return frozen


DEFAULT_OPTIONS = TrainOptions()


def expect_options(value: object) -> None:
    """Raise `InvalidArgumentError` unless a value is `TrainOptions`."""
    hint = "write TrainOptions(init_vectors=…) or leave options out"
    expect(value, TrainOptions, "options", "TrainOptions", hint=hint)


def matching_rows(init_vectors: Vectors, keys: Keys, reporter: Reporter) -> Int64Array:
    """The row of each word in `init_vectors`, −1 where it has none; warns if no word has one."""
    rows = init_vectors.keys.find_all(keys)
    if not np.any(rows >= 0):
        reporter.warn(
            f"none of the {len(keys):,} words is in init_vectors: all vectors start at random"
        )
    return rows


def open_checkpointer(
    options: TrainOptions, settings: Any, data: npt.NDArray[Any], vocabulary: Vocabulary
) -> Checkpointer:
    """The checkpoints of this run; the data are hashed only if there are any."""
    if options.checkpoint is None:
        return Checkpointer(None, RunFingerprint({}, ""), resume=options.resume)
    run = RunFingerprint.of(settings, data, vocabulary)
    return Checkpointer(Path(options.checkpoint), with_options(run, options), resume=options.resume)


def with_options(run: RunFingerprint, options: TrainOptions) -> RunFingerprint:
    """The fingerprint with the initial vectors; the number of threads may change."""
    start = "none"
    if options.init_vectors is not None:
        keys = options.init_vectors.keys
        digest = blake2b(options.init_vectors.matrix.data, digest_size=16)
        for array in (keys.packed, keys.offsets):
            digest.update(np.ascontiguousarray(array).view(np.uint8).data)
        start = digest.hexdigest()
    freeze = options.freeze if isinstance(options.freeze, bool) else sorted(options.freeze)
    same = {"threads": None, "init_vectors": start, "freeze": freeze}
    return replace(run, settings=run.settings | same)
