"""What is written in a format is read again: the same keys, the same 32 bits of every number."""

import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from malmoi.errors import InvalidArgumentError, InvalidFileError, MalmoiWarning
from malmoi.formats import catalogue, load, save
from malmoi.keys import Keys
from malmoi.subwords import SubwordVectors
from malmoi.vectors import Vectors

SUFFIXES = {
    "malmoi": ".malmoi",
    "numpy": ".npy",
    "parquet": ".parquet",
    "fasttext": ".bin",
    "word2vec-binary": ".bin",
    "word2vec": ".vec",
    "glove": ".txt",
    "projector": ".tsv",
}
EDGES = np.array(
    [[0.0, -0.0, 1.0], [1e-45, -1e-45, 1.1754942e-38], [3.4028235e38, -3.4028235e38, 2**24 + 2]],
    dtype=np.float32,
)
every_format = pytest.mark.parametrize("name", list(catalogue.MODULES))
floats = st.floats(width=32, allow_nan=False, allow_infinity=False)
matrices = arrays.arrays(
    np.float32, arrays.array_shapes(min_dims=2, max_dims=2, max_side=5), elements=floats
)
# Not U+FEFF: at the start of a file it is the mark of the encoding, not part of a word.
odd_texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufeff"), max_size=5
)
ODD = [
    *("New York", "a\u00a0b", "\u00a0", " ", "a ", " a", "a\tb", "a\nb", "a\rb", "\r", "a\0", ""),
    *("1", "1 2", "at 0.418", "1e5", "</s>", "한국", "\udcff", "nan", "to infinite", "\x85"),
]
odd_keys = st.one_of(st.sampled_from(ODD), odd_texts)


def written(vectors: Vectors, folder: Path, name: str, zipped: bool = False) -> Path:
    path = folder / f"vectors{SUFFIXES[name]}{'.gz' if zipped else ''}"
    save(vectors, path, format=name)
    return path


def assert_same(found: Vectors, expected: Vectors) -> None:
    assert list(found.keys) == list(expected.keys)
    assert found.matrix.tobytes() == expected.matrix.tobytes()
    assert found.matrix.shape == expected.matrix.shape


def assert_comes_back_or_is_refused(vectors: Vectors, folder: Path, name: str) -> None:
    try:
        path = written(vectors, folder, name)
    except InvalidArgumentError:
        assert not list(folder.iterdir())
    else:
        assert_same(load(path), vectors)


def test_every_format_has_a_suffix_here() -> None:
    assert set(SUFFIXES) == set(catalogue.MODULES)


@every_format
def test_keys_and_numbers_come_back(name: str, words: Vectors, tmp_path: Path) -> None:
    assert_same(load(written(words, tmp_path, name)), words)


@pytest.mark.parametrize("name", sorted(catalogue.COMPRESSIBLE))
def test_zipped_files_come_back(name: str, words: Vectors, tmp_path: Path) -> None:
    path = written(words, tmp_path, name, zipped=True)
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    assert_same(load(path), words)


def test_zipped_projector_files_come_back_under_the_projectors_names(
    words: Vectors, tmp_path: Path
) -> None:
    save(words, tmp_path / "x_tensor.tsv.gz")
    assert_same(load(tmp_path / "x_tensor.tsv.gz"), words)


@pytest.mark.parametrize("name", sorted(set(catalogue.MODULES) - catalogue.COMPRESSIBLE))
def test_formats_opened_in_place_are_not_zipped(name: str, words: Vectors, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match=r"leave out the \.gz"):
        written(words, tmp_path, name, zipped=True)
    assert not list(tmp_path.iterdir())


@every_format
@settings(max_examples=12)
@given(matrix=matrices)
@example(matrix=EDGES)
def test_every_float_comes_back(name: str, matrix: npt.NDArray[np.float32], tmp_path: Path) -> None:
    vectors = Vectors(Keys.of(f"w{row}" for row in range(len(matrix))), matrix)
    assert_same(load(written(vectors, tmp_path, name)), vectors)


@every_format
@settings(max_examples=40)
@given(keys=st.lists(odd_keys, min_size=1, max_size=6, unique=True))
@example(keys=["New York", "Los Angeles", "a"])
@example(keys=["PAR1", "the"])
@example(keys=["BZh91", "the"])
def test_odd_keys_come_back_or_are_refused_whole(
    name: str, keys: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("odd")
    vectors = Vectors(Keys.of(keys), np.arange(len(keys) * 2).reshape(-1, 2) + 0.125)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*not UTF-8", MalmoiWarning)
        assert_comes_back_or_is_refused(vectors, folder, name)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        *[("word2vec", key) for key in ("New York", "a\nb", "")],
        *[("word2vec-binary", key) for key in ("New York", "a\nb", "")],
        ("fasttext", "a\0b"),
        *[("glove", key) for key in ("a\nb", "", "at 0.418")],
        *[("numpy", key) for key in ("a\nb", "a\r", "")],
        *[("projector", key) for key in ("a\nb", "a\r", "a\tb", "")],
        ("parquet", "\udcff"),
    ],
)
def test_keys_that_a_format_cannot_carry_are_refused(name: str, key: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="cannot hold"):
        written(Vectors(Keys.of(["the", key]), np.ones((2, 2))), tmp_path, name)
    assert not list(tmp_path.iterdir())


def test_phrases_come_back_from_glove(tmp_path: Path) -> None:
    phrases = Vectors(Keys.of(["New York", "Los Angeles", "San Francisco"]), np.ones((3, 4)) / 3)
    assert_same(load(written(phrases, tmp_path, "glove")), phrases)


@pytest.mark.parametrize(("name", "row"), [("glove", [5.0]), ("projector", [2.0, 5.0])])
def test_a_first_row_of_two_whole_numbers_is_not_taken_for_a_header(
    name: str, row: list[float], tmp_path: Path
) -> None:
    vectors = Vectors(Keys.of(["2", "3"]), np.array([row, row]))
    assert_comes_back_or_is_refused(vectors, tmp_path, name)


@every_format
@pytest.mark.parametrize("size", [100, 70_000, 2_000_000])
def test_keys_of_any_length_come_back_or_are_refused(name: str, size: int, tmp_path: Path) -> None:
    long = Vectors(Keys.of(["x" * size, "y"]), np.array([[1.5, 2.5], [3.5, 4.5]]))
    assert_comes_back_or_is_refused(long, tmp_path, name)


@every_format
def test_vectors_of_no_numbers_come_back_or_are_refused(name: str, tmp_path: Path) -> None:
    assert_comes_back_or_is_refused(Vectors(Keys.of("ab"), np.empty((2, 0))), tmp_path, name)


@every_format
def test_vectors_of_no_words_come_back_or_are_refused(name: str, tmp_path: Path) -> None:
    assert_comes_back_or_is_refused(Vectors(Keys.of([]), np.empty((0, 3))), tmp_path, name)


@every_format
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_or_written_as_it_is(
    name: str, value: float, tmp_path: Path
) -> None:
    vectors = Vectors(Keys.of("ab"), np.array([[1.0, 2.0], [3.0, value]]))
    try:
        assert_comes_back_or_is_refused(vectors, tmp_path, name)
    except InvalidFileError as error:
        message = str(error)
    else:
        return
    assert re.search("holds .*(nan|inf)", message)


@pytest.mark.parametrize("name", ["malmoi", "parquet", "fasttext"])
def test_counts_come_back(name: str, words: Vectors, tmp_path: Path) -> None:
    found = load(written(words, tmp_path, name)).counts
    assert found is not None
    assert words.counts is not None
    assert found.tolist() == words.counts.tolist()
    uncounted = load(written(replace(words, counts=None), tmp_path, name))
    assert uncounted.counts is None or name == "fasttext"


@pytest.mark.parametrize("name", ["malmoi", "parquet"])
def test_what_was_said_of_the_vectors_comes_back(name: str, words: Vectors, tmp_path: Path) -> None:
    assert load(written(words, tmp_path, name)).meta == words.meta


@pytest.mark.parametrize("name", ["malmoi", "parquet"])
def test_bytes_said_of_the_vectors_come_back_or_are_refused(
    name: str, words: Vectors, tmp_path: Path
) -> None:
    assert_comes_back_or_is_refused(words.with_meta(path="caf\udce9"), tmp_path, name)


@pytest.mark.parametrize("suffix", [".bin", ".bin.gz", ".malmoi"])
def test_unseen_words_keep_their_vectors(
    suffix: str, subworded: SubwordVectors, tmp_path: Path
) -> None:
    save(subworded, tmp_path / f"model{suffix}")
    found = load(tmp_path / f"model{suffix}")
    assert isinstance(found, SubwordVectors)
    assert list(found.keys) == list(subworded.keys)
    np.testing.assert_allclose(found.matrix, subworded.matrix, atol=1e-6)
    for name in ("word_rows", "bucket_rows", "context_matrix"):
        assert getattr(found, name).tobytes() == getattr(subworded, name).tobytes()
    assert found.subwords == subworded.subwords
    for word in ("eater", "한국말", "é"):
        assert found.vector(word).tobytes() == subworded.vector(word).tobytes()


def test_a_pruned_model_comes_back_from_our_own_format_alone(
    subworded: SubwordVectors, tmp_path: Path
) -> None:
    kept = np.arange(0, 40, 3, dtype=np.int32)
    pruned = replace(subworded, bucket_rows=subworded.bucket_rows[kept], kept_buckets=kept)
    save(pruned, tmp_path / "pruned.malmoi")
    found = load(tmp_path / "pruned.malmoi")
    assert found.vector("eaters").tobytes() == pruned.vector("eaters").tobytes()
    with pytest.raises(InvalidArgumentError, match="pruned"):
        save(pruned, tmp_path / "pruned.bin")


@pytest.mark.parametrize("suffix", [".vec", ".txt", ".npy", ".parquet", ".tsv"])
def test_losing_the_ngrams_is_said(suffix: str, subworded: SubwordVectors, tmp_path: Path) -> None:
    with pytest.warns(MalmoiWarning, match="cannot hold n-grams"):
        save(subworded, tmp_path / f"model{suffix}")
    assert_same(load(tmp_path / f"model{suffix}"), subworded)
