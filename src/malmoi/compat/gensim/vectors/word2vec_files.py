"""KeyedVectors to and from files of word2vec, with gensim's arguments."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from malmoi.compat.gensim.sentences import open_text
from malmoi.errors import InvalidArgumentError, InvalidFileError, warn
from malmoi.formats import load, save
from malmoi.keys import Keys
from malmoi.vectors import Vectors

if TYPE_CHECKING:
    from malmoi.compat.gensim.vectors.keyed_vectors import KeyedVectors

UNWRITTEN = (".bz2", ".xz", ".zst")


class InvalidWord2VecFileError(InvalidFileError, EOFError):
    """A file of word2vec is damaged; gensim raises EOFError where it ends too early."""


def save_word2vec_format(
    kv: "KeyedVectors",
    fname: str | Path,
    fvocab: str | Path | None = None,
    binary: bool = False,
    total_vec: int | None = None,
    write_header: bool = True,
    prefix: str = "",
    append: bool = False,
    sort_attr: str = "count",
) -> None:
    """Write the vectors as word2vec's text or binary; most frequent words first."""
    if append or total_vec not in (None, len(kv)):
        raise InvalidArgumentError(
            "malmoi writes whole files: append and total_vec cannot be honoured"
        )
    if Path(fname).suffix in UNWRITTEN:
        raise InvalidArgumentError(f"{fname} would not be compressed: use .gz or no compression")
    if binary and not write_header:
        raise InvalidArgumentError("a binary file needs its header: leave out write_header=False")
    vectors, values = kv.as_vectors(), kv.expandos.get(sort_attr)
    if values is None and fvocab is not None:
        raise ValueError(f"the vocabulary cannot be written: there is no attribute {sort_attr}")
    order = np.arange(len(kv)) if values is None else np.argsort(-values, kind="stable")
    keys = Keys.of(f"{prefix}{vectors.keys[row]}" for row in order.tolist())
    written = Vectors(keys, vectors.matrix[order])
    name = "word2vec-binary" if binary else "word2vec" if write_header else "glove"
    save(written, fname, format=name)
    if fvocab is not None and values is not None:
        lines = [f"{word} {value}\n" for word, value in zip(keys, values[order], strict=True)]
        Path(fvocab).write_text("".join(lines), encoding="utf-8")


def load_word2vec_format(
    cls: "type[KeyedVectors]",
    fname: str | Path,
    fvocab: str | Path | None = None,
    binary: bool = False,
    encoding: str = "utf8",
    unicode_errors: str = "strict",
    limit: int | None = None,
    datatype: npt.DTypeLike = np.float32,
    no_header: bool = False,
) -> Any:
    """Read vectors of word2vec, text or binary: the content says which, whatever `binary` says.

    Without a vocabulary file the counts are n, n - 1, …, as gensim invents them.
    """
    try:
        vectors = load(fname, limit=limit)
    except InvalidFileError as error:
        raise InvalidWord2VecFileError(str(error)) from error
    words = [
        vectors.keys.bytes_at(row).decode(encoding, unicode_errors) for row in range(len(vectors))
    ]
    counts = np.arange(len(words), 0, -1)
    if fvocab is not None:
        known = read_counts(fvocab, encoding, unicode_errors)
        missing = [word for word in words if word not in known]
        if missing:
            warn(f"words that are not in {fvocab}: {len(missing):,}, such as '{missing[0]}'")
        counts = np.array([known.get(word, 0) for word in words], dtype=np.int64)
    made = cls(vectors.dim, dtype=datatype)
    made.set_words(words, counts)
    made.vectors = np.array(vectors.matrix, dtype=datatype)
    return made


def intersect_word2vec_format(
    kv: "KeyedVectors",
    fname: str | Path,
    lockf: float = 0.0,
    binary: bool = False,
    encoding: str = "utf8",
    unicode_errors: str = "strict",
) -> None:
    """Take the vectors of a file for the words that are known already; others stay.

    `lockf` 0 keeps these vectors in later trainings, 1 trains them.
    """
    other = load_word2vec_format(type(kv), fname, None, binary, encoding, unicode_errors)
    if other.vector_size != kv.vector_size:
        raise InvalidArgumentError(
            f"{fname} has {other.vector_size} dimensions instead of {kv.vector_size}"
        )
    words = [word for word in kv.index_to_key if word in other.key_to_index]
    rows = [kv.key_to_index[word] for word in words]
    factors = np.broadcast_to(kv.vectors_lockf, len(kv)).astype(np.float32)
    factors[rows] = lockf
    kv.vectors_lockf = factors
    if words:
        kv.vectors[rows] = other[words]
    kv.fill_norms(force=True)


def read_counts(path: str | Path, encoding: str, errors: str) -> dict[str, int]:
    """Words and counts, one pair per line."""
    with open_text(path) as file:
        lines = file.read().splitlines()
    pairs = [line.decode(encoding, errors).rsplit(" ", 1) for line in lines if line.strip()]
    return {word.strip(): int(count) for word, count in pairs}
