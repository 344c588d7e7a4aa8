"""The teacher's vectors of a corpus, on disk: the slow part of a distillation, which can resume.

Vectors are appended to a file beside the output, and a checkpoint records how many of them are
valid. A limit on time ends it early; the vectors so far are then those of the first texts.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidFileError, MalmoiError
from malmoi.files.checkpoint import Checkpoint, Checkpointer
from malmoi.files.output import invalid_file_on_os_error
from malmoi.reporting.reporter import Reporter
from malmoi.vectors import l2_normalize

MIN_TEXTS = 2  # one to train on and one held out
BLOCK_ROWS = 1 << 14  # whose products are computed at a time


def vectors_path(out: Path) -> Path:
    """The file of the teacher's vectors while `out` is being made."""
    return out.with_name(f"{out.name}.teacher")


def teacher_vectors(
    teacher: Encoder,
    texts: Sequence[str],
    path: Path,
    checkpointer: Checkpointer,
    seconds: float,
    reporter: Reporter,
) -> Float32Array:
    """The vectors of the texts, or of as many of the first as fit into the time: [texts, dim].

    They are memory-mapped.
    """
    restored = checkpointer.restored
    done = 0 if restored is None else int(restored.state["texts"])
    before = 0.0 if restored is None else float(restored.state["seconds"])
    row_bytes, start = 4 * teacher.dim, monotonic()
    if done and (not path.is_file() or path.stat().st_size < done * row_bytes):
        raise InvalidFileError(f"{path} lacks vectors of the run to resume: start without resuming")
    progress = reporter.stage("teaching", "texts")

    def save() -> None:
        file.flush()
        os.fsync(file.fileno())
        state = {"texts": done, "seconds": before + monotonic() - start}
        checkpointer.save(Checkpoint({}, state))

    with invalid_file_on_os_error(path), path.open("r+b" if done else "wb") as file:
        file.truncate(done * row_bytes)
        file.seek(done * row_bytes)
        progress(done, len(texts))
        try:
            for chunk in teacher.stream(texts[done:], reporter=reporter):
                file.write(np.ascontiguousarray(chunk, np.float32).data)
                done += len(chunk)
                progress(done, len(texts))
                if checkpointer.is_due:
                    save()
                if before + monotonic() - start >= seconds and done >= MIN_TEXTS:
                    break
        except BaseException:
            if done:
                with suppress(MalmoiError, OSError):  # the first error matters more
                    save()
            raise
        save()
    if not done:
        return np.empty((0, teacher.dim), np.float32)
    return np.asarray(np.memmap(path, np.float32, "r", shape=(done, teacher.dim)))


def principal_axes(vectors: Float32Array, dim: int) -> Float32Array:
    """The axes of the most variance around 0, [teacher's dim, dim]: cosines stay the same."""
    products = np.zeros((vectors.shape[1], vectors.shape[1]))
    for start in range(0, len(vectors), BLOCK_ROWS):
        rows = l2_normalize(vectors[start : start + BLOCK_ROWS])
        products += rows.T @ rows
    axes: Float32Array = np.linalg.eigh(products)[1][:, ::-1][:, :dim].astype(np.float32)
    return np.ascontiguousarray(axes)


def project(vectors: Float32Array, axes: Float32Array, path: Path) -> Float32Array:
    """The vectors along the axes, of length 1, [texts, dim]; memory-mapped from `path`."""
    with invalid_file_on_os_error(path), path.open("wb") as file:
        for start in range(0, len(vectors), BLOCK_ROWS):
            rows = l2_normalize(vectors[start : start + BLOCK_ROWS])
            file.write(np.ascontiguousarray(l2_normalize(rows @ axes)).data)
    return np.asarray(np.memmap(path, np.float32, "r", shape=(len(vectors), axes.shape[1])))
