"""Real files with bytes changed, cut, put in and repeated: vectors come out, or a MalmoiError."""

import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malmoi.errors import MalmoiError, UnknownWordError
from malmoi.formats import catalogue, load, save
from malmoi.keys import Keys
from malmoi.subwords import SubwordVectors
from malmoi.vectors import Vectors

Data = Callable[[str], Path]
Edit = Callable[[bytes], bytes]

SECONDS = 20.0  # of the processor: kernels may be compiled meanwhile
MEMORY = 80 << 20  # two blocks of a file and what is made of them, however small the file
SUFFIXES = {
    "malmoi": ".malmoi",
    "numpy": ".npy",
    "parquet": ".parquet",
    "fasttext": ".ft.bin",
    "word2vec-binary": ".bin",
    "word2vec": ".vec",
    "glove": ".txt",
    "projector": ".tsv",
}
REAL = [
    "toy-model.bin",
    "cp852_fasttext.bin",
    "high_precision.kv.bin",
    "toy-model.vec",
    "w2v_keyedvectors_load_test.modeldata",
    "test_glove.txt",
]

# Where formats keep their sizes and offsets: more often near a file's beginning or end.
places = st.one_of(
    st.floats(0, 1, exclude_max=True),
    st.integers(0, 160),
    st.integers(-160, -1),
)
telling = st.sampled_from(
    [b"\0", b"\xff", b"\x80", b" ", b"\n", b"\t", b"-", b"9", b"{", b'"', b"[", b"\x7f", b"\0" * 8,
     b"\xff" * 8, b"\xff\xff\xff\x7f", b"99999999999999999", b"nan", b"1e999", b"\r\n\r\n"]
)  # fmt: skip


def at(content: bytes, place: float) -> int:
    if isinstance(place, float):
        return int(place * len(content))
    return min(max(place % max(len(content), 1) if place < 0 else place, 0), len(content))


def flip(place: float, byte: int) -> Edit:
    def edit(content: bytes) -> bytes:
        i = at(content, place)
        return content[:i] + bytes(b ^ byte for b in content[i : i + 1]) + content[i + 1 :]

    return edit


def overwrite(place: float, new: bytes) -> Edit:
    def edit(content: bytes) -> bytes:
        i = at(content, place)
        return content[:i] + new + content[i + len(new) :]

    return edit


def insert(place: float, new: bytes) -> Edit:
    return lambda content: content[: at(content, place)] + new + content[at(content, place) :]


def cut(place: float) -> Edit:
    return lambda content: content[: at(content, place)]


def drop(place: float, size: int) -> Edit:
    return lambda content: content[: at(content, place)] + content[at(content, place) + size :]


def repeat(place: float, size: int) -> Edit:
    return lambda content: content[: at(content, place) + size] + content[at(content, place) :]


edits = st.lists(
    st.one_of(
        st.builds(flip, places, st.integers(1, 255)),
        st.builds(overwrite, places, st.one_of(telling, st.binary(min_size=1, max_size=8))),
        st.builds(insert, places, telling),
        st.builds(cut, places),
        st.builds(drop, places, st.integers(1, 40)),
        st.builds(repeat, places, st.integers(1, 100)),
    ),
    min_size=1,
    max_size=3,
)
options = st.sampled_from(
    [{}, {"strict": False}, {"limit": 3}, {"only": ["the", "한국"]}, {"strict": False, "limit": 2}]
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzz")
    keys = ["the", "king", "한국", "naïve", *(f"word{row}" for row in range(8))]
    matrix = np.random.default_rng(6).normal(size=(len(keys), 4)).astype(np.float32)
    for name, suffix in SUFFIXES.items():
        save(
            Vectors(Keys.of(keys), matrix, np.arange(12, 0, -1)), folder / f"x{suffix}", format=name
        )
    return folder


def attempt(path: Path, how: dict[str, Any]) -> None:
    """Load what is there and use it; anything but a MalmoiError comes through."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            vectors = load(path, **how)
            assert len(list(vectors.keys)) == len(vectors.matrix)
            vectors.row("the")
            vectors.vector("unseen")
        except UnknownWordError:
            return
        except MalmoiError as error:
            message = str(error)
        else:
            return
    assert "\n" not in message
    assert str(path.parent) in message


def assert_survives(path: Path, content: bytes, changes: list[Edit], how: dict[str, Any]) -> None:
    for change in changes:
        content = change(content)
    target = path.with_name(f"mutated-{path.name}")
    target.write_bytes(content)
    attempt(target, how)  # what is compiled at the first call does not count
    tracemalloc.start()
    begin = time.process_time()
    try:
        attempt(target, how)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.process_time() - begin < SECONDS
    assert peak < MEMORY + 20 * len(content)


@pytest.mark.parametrize("name", list(catalogue.MODULES))
@settings(max_examples=120)
@given(changes=edits, how=options)
def test_mutated_files_of_every_format(
    name: str, folder: Path, changes: list[Edit], how: dict[str, Any]
) -> None:
    path = folder / f"x{SUFFIXES[name]}"
    for beside in folder.glob("x*.t*"):  # the words of arrays
        target = beside.with_name(beside.name.replace("x", "mutated-x", 1))
        if beside != path and not target.exists():
            target.write_bytes(beside.read_bytes())
    assert_survives(path, path.read_bytes(), changes, how)


@pytest.mark.parametrize("name", REAL)
@settings(max_examples=40)
@given(changes=edits, how=options)
def test_mutated_files_of_the_peers(
    name: str,
    gensim_data: Data,
    tmp_path: Path,
    changes: list[Edit],
    how: dict[str, Any],
) -> None:
    assert_survives(tmp_path / name, gensim_data(name).read_bytes(), changes, how)


@settings(max_examples=40)
@given(changes=edits, how=options)
def test_mutated_model_with_ngrams_in_our_own_format(
    subworded: SubwordVectors, tmp_path: Path, changes: list[Edit], how: dict[str, Any]
) -> None:
    path = tmp_path / "model.malmoi"
    save(subworded, path)
    assert_survives(path, path.read_bytes(), changes, how)


@settings(max_examples=40)
@given(changes=edits, how=options)
def test_mutated_quantised_model(
    lid_ftz: Path, tmp_path: Path, changes: list[Edit], how: dict[str, Any]
) -> None:
    whole = lid_ftz.read_bytes()
    assert_survives(tmp_path / "lid.ftz", whole, changes, how)


@pytest.mark.parametrize("suffix", [".vec.gz", ".bin.gz"])
@settings(max_examples=40)
@given(changes=edits, how=options)
def test_mutated_zipped_files(
    suffix: str, words: Vectors, tmp_path: Path, changes: list[Edit], how: dict[str, Any]
) -> None:
    path = tmp_path / f"words{suffix}"
    save(words, path)
    assert_survives(path, path.read_bytes(), changes, how)


@settings(max_examples=100)
@given(
    content=st.one_of(
        st.binary(max_size=300), st.text("0123456789 .-e\n\tnaif", max_size=80).map(str.encode)
    )
)
def test_any_bytes(content: bytes, tmp_path: Path) -> None:
    assert_survives(tmp_path / "any", content, [], {})
