"""Embeds texts into a file; an interrupted run can be resumed.

Beside the file, `.part` grows chunk by chunk and `.checkpoint` records how much of it is valid.
Both are deleted once the file is complete. A resumed run needs the same texts and settings: its
chunks, and so every byte of the file, are then the same.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np

from malmoi.arguments import expect_path, settings_or_default
from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.bulk.embed import (
    EmbeddedTexts,
    EmbedSettings,
    embed,
    output_dim,
    replace_surrogates,
)
from malmoi.encode.bulk.input_scan import InputScan, scan_texts
from malmoi.encode.bulk.outputs import Output, chunk_dim, output_for
from malmoi.encode.pipeline.activations import SpanVectors
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.protocol import Encoder, expect_encoder
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.errors import InvalidArgumentError, InvalidFileError, MalmoiError
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
from malmoi.reporting.reporter import (
    DEFAULT_REPORTER,
    Progress,
    ProgressTexts,
    Reporter,
    SilentReporter,
    expect_reporter,
)
from malmoi.table import Table, Tabular
from malmoi.text_inputs import TextColumn, TextLike

POSITION_LISTS = ("truncated", "empty", "unknown", "fragmented")  # fields of TextStats
COUNTS = ("words", "fragments", "korean", "universal")
TOLERANCE = 1e-3  # between vectors of the same text by the same model
OLD_STATE_NAMES = {"max_length": "longest"}  # in checkpoints of earlier versions


@dataclass(frozen=True, eq=False, repr=False)
class WriteReport(Tabular):
    """What was written; positions of texts count from 1."""

    texts: int
    rows: int
    dim: int
    undecoded: int
    repeated: int
    stats: TextStats

    def sentences(self) -> list[str]:
        """One warning per kind of problem."""
        warnings = self.stats.sentences()
        if self.repeated:
            warnings.append(
                f"{self.repeated:,} of {self.texts:,} texts are repeated: only the first of each"
                " is written"
            )
        if self.undecoded:
            warnings.append(f"{self.undecoded:,} texts contain invalid bytes (now U+FFFD)")
        return warnings

    def __repr__(self) -> str:
        warnings = "; ".join(self.sentences()) or "no warnings"
        return f"WriteReport({self.texts:,} texts, {self.rows:,} rows × {self.dim}; {warnings})"

    def _table(self) -> Table:
        rows = [(sentence,) for sentence in self.sentences()]
        title = f"Written: {self.texts:,} texts, {self.rows:,} rows × {self.dim} dimensions"
        return Table(title, ["warnings" if rows else ""], rows)


def write_embeddings(
    encoder: Encoder,
    texts: Iterable[TextLike],
    path: str | Path,
    settings: EmbedSettings | None = None,
    *,
    resume: bool = False,
    reporter: Reporter = DEFAULT_REPORTER,
) -> WriteReport:
    """Embed texts into a file, which is complete or does not exist.

    Args:
        encoder: Any encoder.
        texts: Strings or token lists: a list, a Series, an array, or the texts of a `Corpus`; the
            texts of a generator are kept in memory.
        path: A .npy, .jsonl, .parquet or .malmoi file to write.
        settings: What to compute for each text; by default the model's own vector.
        resume: Whether to continue an interrupted run.
        reporter: Gets the progress of the stages "reading" and "embedding".

    Returns:
        What was written, with counts of texts that were truncated, empty, unknown or fragmented.
        They are not passed to the reporter: `report.sentences()` has the warnings.

    Raises:
        InvalidArgumentError: The settings do not fit the encoder or the file format, or
            something in `texts` is not a text.
        InvalidFileError: The file cannot be written.
    """
    expect_reporter(reporter)
    expect_encoder(encoder)
    settings, path = settings_or_default(settings, EmbedSettings), expect_path(path)
    output = output_for(path, settings.per, encoder.name)
    check_writable(path)
    target = Path(os.path.realpath(path))  # keeps a symbolic link
    progress = reporter.stage("reading")
    source: Iterable[str] = TextColumn.of(texts)
    if isinstance(texts, ProgressTexts):
        source = texts
    scan = scan_texts(source, repeats=path.suffix == ".malmoi", progress=progress)
    fingerprint = _fingerprint(encoder, path, settings, scan)
    checkpoints = Checkpointer(checkpoint_path(target), fingerprint, resume=resume)
    part = target.with_name(f"{target.name}.part")
    with (
        invalid_file_on_os_error(path),
        _one_engine(encoder, scan),
        _part_file(part, checkpoints) as file,
    ):
        writer = _EmbeddingWriter(encoder, settings, output, checkpoints, file)
        progress = reporter.stage("embedding", "texts")
        writer.write(lambda: _without(source, scan.repeats), progress, scan)
        distinct = map(replace_surrogates, _without(source, scan.repeats))
        output.finish(part, target, distinct, writer.dim)
    discard_checkpoint(checkpoint_path(target))
    stats = writer.stats
    for name in POSITION_LISTS:
        setattr(stats, name, scan.original_positions(getattr(stats, name)))
    stats.texts = scan.texts
    repeated = len(scan.repeats)
    return WriteReport(scan.texts, writer.done, writer.dim, scan.undecoded, repeated, stats)


class _EmbeddingWriter:
    """Embeds into a growing file: `done` texts take the first `size` bytes of it."""

    def __init__(
        self,
        encoder: Encoder,
        settings: EmbedSettings,
        output: Output,
        checkpoints: Checkpointer,
        file: BinaryIO,
    ) -> None:
        self.encoder, self.settings, self.output = encoder, settings, output
        self.checkpoints, self.file = checkpoints, file
        self.stats = TextStats()
        self.done = self.size = 0
        self.dim = output_dim(encoder, settings)
        self.first: Float32Array = np.empty((0, 0), np.float32)  # vectors of the first text
        self._counted = self._counts()  # the statistics of the texts that are done

    def write(
        self, texts: Callable[[], Iterator[str]], progress: Progress, scan: InputScan
    ) -> None:
        """Write from the checkpoint to the end; after an error, leave a new checkpoint."""
        if self.checkpoints.restored is not None:
            self._restore(self.checkpoints.restored, texts())
        total = scan.texts - len(scan.repeats)
        progress(self.done, total)
        rest = islice(texts(), self.done, None)
        try:
            with ThreadPoolExecutor(1) as writer:  # writes while the next chunk is computed
                last: Future[None] | None = None
                for chunk in embed(self.encoder, rest, self.settings, stats=self.stats):
                    if last is not None:
                        last.result()
                    last = writer.submit(self._add, chunk, self._counts())
                    progress(self.done, total)
                if last is not None:
                    last.result()
            self.file.flush()
            self.file.truncate(self.size)  # removes half a chunk of an earlier run
        except BaseException:
            if self.done:
                with suppress(MalmoiError, OSError):  # the first error matters more
                    self._save()
            raise

    def _add(self, chunk: EmbeddedTexts, counts: dict[str, int]) -> None:
        if self.done == 0:  # an earlier run's checkpoint is useless from now on
            discard_checkpoint(path_of(self.checkpoints))
            self.dim, self.first = chunk_dim(chunk), as_matrix(chunk.vectors[0])
        self.file.truncate(self.size)
        self.file.seek(self.size)
        self.output.add(self.file, chunk)
        self.done, self.size = self.done + len(chunk.texts), self.file.tell()
        self._counted = counts
        if self.checkpoints.is_due:
            self._save()

    def _save(self) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())
        tensors: Tensors = {
            name: np.array(getattr(self.stats, name)[: self._counted[name]], np.int64)
            for name in POSITION_LISTS
        }
        state = {"texts": self.done, "bytes": self.size, "dim": self.dim}
        state |= {name: self._counted[name] for name in COUNTS}
        state["max_length"] = self.stats.max_length
        self.checkpoints.save(Checkpoint(tensors | {"first": self.first}, state))

    def _restore(self, checkpoint: Checkpoint, texts: Iterator[str]) -> None:
        path = path_of(self.checkpoints)
        with checkpoint.restoring():
            state = checkpoint.state
            self.done, self.size = int(state["texts"]), int(state["bytes"])
            self.dim, self.first = int(state["dim"]), checkpoint.tensors["first"]
            for name in POSITION_LISTS:
                setattr(self.stats, name, checkpoint.tensors[name].tolist())
            for name in COUNTS:
                setattr(self.stats, name, int(state[name]))
            name = "max_length" if "max_length" in state else OLD_STATE_NAMES["max_length"]
            self.stats.texts, self.stats.max_length = self.done, int(state[name])
        if os.fstat(self.file.fileno()).st_size < self.size:
            raise InvalidFileError(
                f"{path}: the partial output it refers to is missing; run again without resume"
            )
        self._counted = self._counts()
        first = islice(texts, 1)
        silent = SilentReporter()
        chunk = next(embed(self.encoder, first, self.settings, reporter=silent, stats=TextStats()))
        vectors = as_matrix(chunk.vectors[0])
        is_same = vectors.shape == self.first.shape
        if not is_same or not np.allclose(vectors, self.first, TOLERANCE, TOLERANCE):
            raise InvalidArgumentError(
                f"{path} was written by another model than {self.encoder.name} is now: its first"
                " text has another vector; run again without resume"
            )

    def _counts(self) -> dict[str, int]:
        lengths = {name: len(getattr(self.stats, name)) for name in POSITION_LISTS}
        return lengths | {name: getattr(self.stats, name) for name in COUNTS}


def path_of(checkpoints: Checkpointer) -> Path:
    """The path of the checkpoint."""
    assert checkpoints.path is not None
    return checkpoints.path


def as_matrix(vectors: Float32Array | SpanVectors) -> Float32Array:
    """The vectors of one text as rows."""
    return np.atleast_2d(vectors.matrix if isinstance(vectors, SpanVectors) else vectors)


@contextmanager
def _part_file(part: Path, checkpoints: Checkpointer) -> Iterator[BinaryIO]:
    """A file that only this process writes; after an error it stays if there is a checkpoint."""
    with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT, 0o666), "r+b") as file:
        lock(file, part)
        try:
            yield file
        except BaseException:
            if not path_of(checkpoints).exists():
                part.unlink(missing_ok=True)
            raise


def _one_engine(encoder: Encoder, scan: InputScan) -> AbstractContextManager[None]:
    """Prevents a change of engine, which would come at another text in a resumed run."""
    if isinstance(encoder, ContextualEncoder):
        return encoder.engine.pinned(scan.max_tokens)
    return nullcontext()


def lock(file: BinaryIO, part: Path) -> None:
    """Raise InvalidFileError if another process writes the file."""
    try:
        import fcntl
    except ModuleNotFoundError:  # not POSIX
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InvalidFileError(f"another process is writing {part}: wait for it") from error


def _without(texts: Iterable[str], repeats: Int64Array) -> Iterator[str]:
    if not len(repeats):
        return iter(texts)
    skipped = set(repeats.tolist())
    return (text for i, text in enumerate(texts) if i not in skipped)


def _fingerprint(
    encoder: Encoder, path: Path, settings: EmbedSettings, scan: InputScan
) -> RunFingerprint:
    values = {"model": encoder.name, "format": path.suffix, **asdict(settings)}
    recipe = values.pop("recipe") or {}
    merged = {name: recipe.get(name) for name in asdict(Recipe())} | values
    return RunFingerprint(json.loads(json.dumps(merged)), scan.digest, "an embedding")
