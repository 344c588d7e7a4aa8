"""Files of vectors in every format that is read."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

import malmoi
from bench.fuzzing.subjects import Subject, digest, tensor_subjects
from malmoi.errors import UnknownWordError
from malmoi.formats import catalogue
from malmoi.formats.inspection import inspect
from malmoi.keys import Keys
from malmoi.query.neighbours import neighbours
from malmoi.subwords import Subwords, SubwordVectors
from malmoi.vectors import Vectors

SUFFIXES = {"numpy": ".npy", "parquet": ".parquet", "word2vec-binary": ".bin", "word2vec": ".vec",
            "glove": ".txt", "projector": ".tsv"}  # fmt: skip
KEYS = ["the", "king", "한국", "naïve", *(f"word{row}" for row in range(20))]
ASKED = ("the", "한국", "word7", "unseen")


def numbers(rows: int, dim: int = 6) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """The same numbers every time."""
    return np.random.default_rng(6).normal(size=(rows, dim)).astype(np.float32)


def plain() -> Vectors:
    """Few words."""
    counts = np.arange(len(KEYS), 0, -1)
    return Vectors(KEYS, numbers(len(KEYS)), counts, {"made by": "hand", "출처": "손"})


def many() -> Vectors:
    """More of them, so that the file has several blocks."""
    keys = [*KEYS, *(f"more{row}" for row in range(3000))]
    return Vectors(keys, numbers(len(keys), 20), np.arange(len(keys), 0, -1))


def subworded() -> SubwordVectors:
    """With n-grams."""
    subwords = Subwords(min_n=2, max_n=4, buckets=60)
    matrix = numbers(len(KEYS))
    return SubwordVectors(
        Keys.of(KEYS), matrix, np.arange(len(KEYS), 0, -1), word_rows=matrix,
        bucket_rows=numbers(60), subwords=subwords, context_matrix=matrix,
    )  # fmt: skip


def use_vectors(path: Path) -> str:
    """Everything in a file, look-ups and neighbours."""
    vectors = malmoi.load(path)
    answers: list[object] = []
    for word in ASKED:
        answers.append(vectors.row(word))
        try:
            answers.append(np.array(vectors.vector(word)))
        except UnknownWordError:
            answers.append(None)
    answers += [
        list(vectors.keys),
        vectors.matrix,
        vectors.norms,
        vectors.counts,
        vectors.context_matrix,
    ]
    answers += [dict(vectors.meta), vectors.keys.lookup, vectors.keys.repeats()]
    if isinstance(vectors, SubwordVectors):
        answers += [vectors.word_rows, vectors.bucket_rows, vectors.kept_buckets, vectors.subwords]
        answers.append(str(vectors.explain("unseen")))
    if len(vectors):
        answers.append(neighbours(vectors, vectors.keys[0], 3))
    return digest(*answers)


def use_part(path: Path) -> str:
    """The other ways to read a file: some of its rows, whatever is wrong, and its description."""
    answers: list[object] = []
    for how in ({"limit": 3}, {"only": ["the", "한국"]}, {"strict": False}):
        vectors = malmoi.load(path, **how)
        answers += [list(vectors.keys), vectors.matrix]
    return digest(*answers, inspect(path).findings)


def subjects() -> list[Subject]:
    """All of them."""

    def saved(vectors: Vectors, name: str, format: str) -> Subject:
        return Subject(
            f"{format}{' ' + name if name.startswith('s') else ''}",
            lambda folder: malmoi.save(vectors, folder / name, format=format),
            lambda folder: use_vectors(folder / name),
        )

    own = saved(plain(), "x.malmoi", "malmoi")
    parts = Subject("malmoi in parts", own.make, lambda folder: use_part(folder / "x.malmoi"))
    large = saved(many(), "large.malmoi", "malmoi")
    lazy = Subject("malmoi, large", large.make, large.use, is_large=True)
    with_ngrams = saved(subworded(), "sub.malmoi", "malmoi")
    found = [
        *tensor_subjects(own),
        *tensor_subjects(lazy),
        *tensor_subjects(with_ngrams),
        *tensor_subjects(parts),
        saved(subworded(), "sub.bin", "fasttext"),
        saved(plain(), "szipped.vec.gz", "word2vec"),
        saved(plain(), "szipped.bin.gz", "word2vec-binary"),
    ]
    for format in catalogue.MODULES:
        if format in SUFFIXES:
            name = f"x{SUFFIXES[format]}"
            whole = saved(plain(), name, format)
            found += [whole, Subject(f"{format} in parts", whole.make, _part_of(name))]
    return found


def _part_of(name: str) -> Callable[[Path], str]:
    return lambda folder: use_part(folder / name)
