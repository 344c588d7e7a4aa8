"""Vectors as each program reads or holds them: malmoi, gensim, fastText.

Words that were never seen are asked for too, where the format can answer them.
"""

import struct
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import malmoi
from malmoi.arrays import Float32Array

UNSEEN = (
    "kingish",
    "unbelievability",
    "l'été",
    "<x>",
    "nejžluťoučkější",
    "преступленьице",
    "말모이",
)
MAGIC = struct.pack("<2i", 793712314, 12)


@dataclass(frozen=True)
class File:
    """A file, and what a program has to be told about it."""

    path: Path
    format: str  # fasttext, binary, text or glove
    encoding: str = "utf-8"
    strict: bool = True

    @property
    def unseen(self) -> list[str]:
        """Words to ask for that can be written in the file's encoding."""
        if self.format != "fasttext":
            return []
        writable = [word.encode(self.encoding, "ignore").decode(self.encoding) for word in UNSEEN]
        return [word for word, same in zip(UNSEEN, writable, strict=True) if word == same]


@dataclass(frozen=True)
class Reading:
    """The keys of a file, and a row for each of them and then for each unseen word."""

    who: str
    keys: list[str]
    rows: Float32Array
    remark: str = ""


def read_ours(file: File) -> Reading:
    """What malmoi reads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # notes on keys that are not UTF-8
        vectors = malmoi.load(file.path, encoding=file.encoding, strict=file.strict)

    def ask(word: str) -> Float32Array:
        try:
            return vectors.vector(word)
        except malmoi.UnknownWordError:  # of which nothing is known: zeros in fastText
            return np.zeros(vectors.dim, dtype=np.float32)

    return answered("malmoi", list(vectors.keys), ask, file)


def read_gensim(file: File) -> Reading:
    """What gensim reads; keys that are not UTF-8 only if it is told to let them pass."""
    try:
        vectors, remark = open_gensim(file, "strict"), ""
    except UnicodeDecodeError as error:
        vectors, remark = open_gensim(file, "surrogateescape"), explained(error)
    return answered("gensim", vectors.index_to_key, vectors.get_vector, file, remark)


def open_gensim(file: File, unicode_errors: str) -> Any:
    """gensim's vectors."""
    from gensim.models import KeyedVectors
    from gensim.models.fasttext import load_facebook_vectors

    if file.format == "fasttext":
        return load_facebook_vectors(str(file.path), encoding=file.encoding)
    return KeyedVectors.load_word2vec_format(
        str(file.path),
        binary=file.format == "binary",
        no_header=file.format == "glove",
        unicode_errors=unicode_errors,
    )


def to_gensim(vectors: malmoi.Vectors) -> Any:
    """The same vectors as gensim's KeyedVectors, their norms computed."""
    from gensim.models import KeyedVectors

    held = KeyedVectors(vectors.dim)
    held.add_vectors(list(vectors.keys), np.array(vectors.matrix))
    held.fill_norms()
    return held


def read_fasttext(file: File, folder: Path) -> Reading:
    """What fastText reads; it no longer knows the files of its first version."""
    import fasttext

    try:
        model, remark = fasttext.load_model(str(file.path)), ""
    except ValueError as error:
        model, remark = fasttext.load_model(str(renewed(file.path, folder))), explained(error)
    as_utf8 = model.get_words(on_unicode_error="surrogateescape")
    raw = [word.encode("utf-8", "surrogateescape") for word in as_utf8]
    keys = [word.decode(file.encoding, "surrogateescape") for word in raw]

    def ask(word: str) -> Any:
        return model.get_word_vector(word.encode(file.encoding, "surrogateescape"))

    return answered("fastText", keys, ask, file, remark)


def renewed(path: Path, folder: Path) -> Path:
    """A model of fastText's first version with the marks that the later ones added.

    Those are the magic number, the count of pruned n-grams (-1: not pruned) and a byte
    before each matrix (0: not quantised); words and numbers stay as they are.
    """
    old = path.read_bytes()
    entries, words = 76, struct.unpack_from("<i", old, 56)[0]
    first = entries
    for _ in range(words):
        first = old.index(b"\0", first) + 10
    rows, columns = struct.unpack_from("<2q", old, first)
    second = first + 16 + 4 * rows * columns
    copy = folder / path.name
    with copy.open("wb") as file:
        file.write(MAGIC + old[:entries] + struct.pack("<q", -1) + old[entries:first])
        file.write(b"\0" + old[first:second] + b"\0" + old[second:])
    return copy


def answered(
    who: str, keys: Sequence[str], ask: Callable[[str], Any], file: File, remark: str = ""
) -> Reading:
    """The answers for all keys and the unseen words."""
    rows = np.array([ask(word) for word in [*keys, *file.unseen]], dtype=np.float32)
    return Reading(who, list(keys), rows, remark)


def explained(error: Exception) -> str:
    """An error in one line, without the folder of the file."""
    words = str(error).replace("\n", " ").split()
    said = " ".join(Path(word).name if word.startswith("/") else word for word in words)
    return f"{type(error).__name__}: {said}"
