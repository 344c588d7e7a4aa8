"""Texts embedded into a file that is whole or not there; what is broken off can be gone on with.

Beside the file, `.part` grows chunk by chunk and `.checkpoint` says up to where it is good. Both
are gone once the file is there. Whoever goes on must give the same texts and wishes: chunks are
then the same, and so is every byte of the file.
"""

import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.encode.activations import SpanVectors
from malmoi.encode.bulk.embed import EmbeddedTexts, EmbedSettings, clean, dim_of, embed
from malmoi.encode.bulk.input_scan import InputScan, scan_texts
from malmoi.encode.bulk.outputs import Output, chunk_dim, output_for
from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.protocol import Encoder
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.errors import InvalidArgumentError, InvalidFileError, MalmoiError, MalmoiWarning
from malmoi.files.checkpoint import (
    Checkpoint,
    Checkpointer,
    RunFingerprint,
    checkpoint_path,
    discard_checkpoint,
)
from malmoi.files.output import invalid_file_on_os_error
from malmoi.files.targets import check_writable
from malmoi.files.tensors import Tensors
from malmoi.reporting.reporter import Progress, no_progress

NOTED = ("truncated", "empty", "unknown", "fragmented")  # lists of texts
SUMS = ("words", "fragments", "korean", "universal")
NEAR = 1e-3  # how far the same model's vectors of the same text may lie apart


@dataclass(frozen=True, eq=False)
class WriteReport:
    """What was written, and which texts there is something to say of, numbered from 1."""

    texts: int
    rows: int
    dim: int
    undecoded: int
    repeated: int
    notes: TextStats

    def sentences(self) -> list[str]:
        """What there is to say."""
        found = self.notes.sentences()
        if self.repeated:
            found.append(
                f"{self.repeated:,} of {self.texts:,} texts come again: the first of each is kept"
            )
        if self.undecoded:
            found.append(f"{self.undecoded:,} texts have bytes that are no text (now U+FFFD)")
        return found


def write_embeddings(
    encoder: Encoder,
    texts: Iterable[str],
    path: Path,
    wish: EmbedSettings,
    *,
    resume: bool = False,
    progress: Progress = no_progress,
    reading: Progress = no_progress,
) -> WriteReport:
    """Write what is wished for; the texts must be such as can be read several times.

    They are read through once before they are embedded: `reading` is told how far that is.
    """
    output = output_for(path, wish.per, encoder.name)
    check_writable(path)
    target = Path(os.path.realpath(path))  # a link goes on pointing there
    found = scan_texts(texts, repeats=path.suffix == ".malmoi", progress=reading)
    keeper = Checkpointer(
        checkpoint_path(target), _origin(encoder, path, wish, found), resume=resume
    )
    part = target.with_name(f"{target.name}.part")
    with (
        invalid_file_on_os_error(path),
        _one_engine(encoder, found),
        _growing(part, keeper) as file,
    ):
        work = _Work(encoder, wish, output, keeper, file)
        work.go_on(lambda: _without(texts, found.repeats), progress, found)
        output.finish(part, target, map(clean, _without(texts, found.repeats)), work.dim)
    discard_checkpoint(checkpoint_path(target))
    notes = work.notes
    for name in NOTED:
        setattr(notes, name, found.lines(getattr(notes, name)))
    notes.texts = found.texts
    return WriteReport(found.texts, work.done, work.dim, found.undecoded, len(found.repeats), notes)


class _Work:
    """Embedding into a file that grows: `done` texts take the first `size` bytes of it."""

    def __init__(
        self,
        encoder: Encoder,
        wish: EmbedSettings,
        output: Output,
        keeper: Checkpointer,
        file: BinaryIO,
    ) -> None:
        self.encoder, self.wish, self.output = encoder, wish, output
        self.keeper, self.file = keeper, file
        self.notes = TextStats()
        self.done = self.size = 0
        self.dim = dim_of(encoder, wish)
        self.first: Float32Array = np.empty((0, 0), np.float32)  # vectors of the first text
        self._noted = self._counts()  # how much of the notes is of texts that are done

    def go_on(
        self, texts: Callable[[], Iterator[str]], progress: Progress, found: InputScan
    ) -> None:
        """From where the checkpoint says to the end; if that is not reached, a new one is left."""
        if self.keeper.restored is not None:
            self._restore(self.keeper.restored, texts())
        total = found.texts - len(found.repeats)
        progress(self.done, total)
        rest = islice(texts(), self.done, None)
        try:
            with ThreadPoolExecutor(1) as writer:  # writes while the next chunk is run
                last: Future[None] | None = None
                for chunk in embed(self.encoder, rest, self.wish, self.notes):
                    if last is not None:
                        last.result()
                    last = writer.submit(self._add, chunk, self._counts())
                    progress(self.done, total)
                if last is not None:
                    last.result()
            self.file.flush()
            self.file.truncate(self.size)  # what is half a chunk, if there was no other to come
        except BaseException:
            if self.done:
                with suppress(MalmoiError, OSError):  # there is something worse to tell
                    self._save()
            raise

    def _add(self, chunk: EmbeddedTexts, counts: dict[str, int]) -> None:
        if self.done == 0:  # what an earlier run left is of no use from now on
            discard_checkpoint(checkpoint_of(self.keeper))
            self.dim, self.first = chunk_dim(chunk), as_matrix(chunk.vectors[0])
        self.file.truncate(self.size)
        self.file.seek(self.size)
        self.output.add(self.file, chunk)
        self.done, self.size = self.done + len(chunk.texts), self.file.tell()
        self._noted = counts
        if self.keeper.is_due:
            self._save()

    def _save(self) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())
        tensors: Tensors = {
            name: np.array(getattr(self.notes, name)[: self._noted[name]], np.int64)
            for name in NOTED
        }
        state = {"texts": self.done, "bytes": self.size, "dim": self.dim}
        state |= {name: self._noted[name] for name in SUMS}
        state["longest"] = self.notes.longest
        self.keeper.save(Checkpoint(tensors | {"first": self.first}, state))

    def _restore(self, found: Checkpoint, texts: Iterator[str]) -> None:
        path = checkpoint_of(self.keeper)
        with found.restoring():
            self.done, self.size = int(found.state["texts"]), int(found.state["bytes"])
            self.dim, self.first = int(found.state["dim"]), found.tensors["first"]
            for name in NOTED:
                setattr(self.notes, name, found.tensors[name].tolist())
            for name in SUMS:
                setattr(self.notes, name, int(found.state[name]))
            self.notes.texts, self.notes.longest = self.done, int(found.state["longest"])
        if os.fstat(self.file.fileno()).st_size < self.size:
            raise InvalidFileError(
                f"{path} is of a file of which the part written is gone: begin without resuming"
            )
        self._noted = self._counts()
        with warnings.catch_warnings(action="ignore", category=MalmoiWarning):
            chunk = next(embed(self.encoder, islice(texts, 1), self.wish, TextStats()))
        again = as_matrix(chunk.vectors[0])
        if again.shape != self.first.shape or not np.allclose(again, self.first, NEAR, NEAR):
            raise InvalidArgumentError(
                f"{path} is of another model than {self.encoder.name} is now: its first text has"
                " another vector; begin without resuming"
            )

    def _counts(self) -> dict[str, int]:
        lengths = {name: len(getattr(self.notes, name)) for name in NOTED}
        return lengths | {name: getattr(self.notes, name) for name in SUMS}


def checkpoint_of(keeper: Checkpointer) -> Path:
    """Where checkpoints are."""
    assert keeper.path is not None
    return keeper.path


def as_matrix(vectors: Float32Array | SpanVectors) -> Float32Array:
    """The vectors of one text, or its only one, as rows."""
    return np.atleast_2d(vectors.matrix if isinstance(vectors, SpanVectors) else vectors)


@contextmanager
def _growing(part: Path, keeper: Checkpointer) -> Iterator[BinaryIO]:
    """A file to write to, by this process alone; it stays as long as a checkpoint tells of it."""
    with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT, 0o666), "r+b") as file:
        lock(file, part)
        try:
            yield file
        except BaseException:
            if not checkpoint_of(keeper).exists():
                part.unlink(missing_ok=True)
            raise


def _one_engine(encoder: Encoder, found: InputScan) -> AbstractContextManager[None]:
    """Else it might change on the way, and not where it does in a run that was gone on with."""
    if isinstance(encoder, TransformerEncoder):
        return encoder.engine.one_job(found.pieces)
    return nullcontext()


def lock(file: BinaryIO, part: Path) -> None:
    """Refuse a file that another process is writing."""
    try:
        import fcntl
    except ModuleNotFoundError:  # no such thing on this system
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InvalidFileError(
            f"{part} is being written by another process: wait for it"
        ) from error


def _without(texts: Iterable[str], repeats: npt.NDArray[np.int64]) -> Iterator[str]:
    if not len(repeats):
        return iter(texts)
    left_out = set(repeats.tolist())
    return (text for number, text in enumerate(texts) if number not in left_out)


def _origin(encoder: Encoder, path: Path, wish: EmbedSettings, found: InputScan) -> RunFingerprint:
    said = {"model": encoder.name, "format": path.suffix, **asdict(wish)}
    recipe = said.pop("recipe") or {}
    settings = {name: recipe.get(name) for name in asdict(Recipe())} | said
    return RunFingerprint(json.loads(json.dumps(settings)), found.digest, "an embedding")
