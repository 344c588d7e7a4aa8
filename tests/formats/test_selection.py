"""A part of a file: the first rows, or the rows of some words; equal to a part of the whole."""

import gzip
import tracemalloc
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malmoi.errors import InvalidFileError
from malmoi.files import source
from malmoi.formats import catalogue, load, save
from malmoi.keys import Keys
from malmoi.subwords import SubwordVectors
from malmoi.vectors import Vectors
from tests.recording_reporter import RecordingReporter

NAMES = {
    "malmoi": "words.malmoi",
    "numpy": "words.npy",
    "parquet": "words.parquet",
    "fasttext": "words.ft.bin",
    "word2vec-binary": "words.bin",
    "word2vec": "words.vec",
    "glove": "words.txt",
    "projector": "words_tensor.tsv",
}
MEGABYTE = 1 << 20
every_format = pytest.mark.parametrize("name", list(catalogue.MODULES))


def assert_same(found: Vectors, expected: Vectors) -> None:
    assert list(found.keys) == list(expected.keys)
    assert found.matrix.tolist() == expected.matrix.tolist()
    if expected.counts is not None:
        assert found.counts is not None
        assert found.counts.tolist() == expected.counts.tolist()


@every_format
@pytest.mark.parametrize("limit", [0, 1, 3, 7, 8, 1000])
def test_a_limit_takes_the_first_rows(
    name: str, limit: int, words: Vectors, tmp_path: Path
) -> None:
    path = tmp_path / NAMES[name]
    save(words, path, format=name)
    assert_same(load(path, limit=limit), load(path)[:limit])


@every_format
@settings(max_examples=10)
@given(
    asked=st.sets(st.sampled_from(["the", "queen", "한국", "naïve", "1", "nowhere", ""])),
    limit=st.sampled_from([None, 0, 2, 4, 99]),
)
def test_only_the_words_asked_for_are_taken(
    name: str, asked: set[str], limit: int | None, words: Vectors, tmp_path: Path
) -> None:
    path = tmp_path / NAMES[name]
    save(words, path, format=name)
    whole = load(path)
    rows = [row for row, word in enumerate(list(whole)[:limit]) if word in asked]
    assert_same(load(path, only=asked, limit=limit), whole.take(np.array(rows, np.int64)))


@every_format
@pytest.mark.parametrize("stored", ["NFC", "NFD"])
@pytest.mark.parametrize("asked", ["NFC", "NFD"])
def test_words_are_asked_for_in_either_unicode_form(
    name: str, stored: str, asked: str, tmp_path: Path
) -> None:
    def form(kind: str, words: list[str]) -> list[str]:
        return [unicodedata.normalize(kind, word) for word in words]  # type: ignore[arg-type]

    path = tmp_path / NAMES[name]
    keys = form(stored, ["the", "한국", "각", "naïve"])
    save(Vectors(Keys.of(keys), np.arange(12).reshape(4, 3) + 0.5), path, format=name)
    found = load(path, only=form(asked, ["한국", "naïve"]))
    assert list(found) == [keys[1], keys[3]]


@pytest.mark.parametrize("suffix", [".bin", ".malmoi"])
def test_a_part_of_a_model_answers_unseen_words_alike(
    suffix: str, subworded: SubwordVectors, tmp_path: Path
) -> None:
    save(subworded, tmp_path / f"model{suffix}")
    for part in (
        load(tmp_path / f"model{suffix}", limit=2),
        load(tmp_path / f"model{suffix}", only=["</s>", "eating"]),
    ):
        assert list(part) == ["</s>", "eating"]
        assert part.vector("eater").tolist() == subworded.vector("eater").tolist()


def test_rows_after_the_limit_are_not_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "bad-end.txt"
    path.write_bytes(b"the 0.1 0.2\n\n\nof 0.3 0.4\nand 0.5\nnan nan nan\n")
    assert list(load(path, limit=2)) == ["the", "of"]


def test_a_row_that_does_not_fit_is_not_passed_over_to_reach_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "bad-middle.txt"
    path.write_bytes(b"\n\n\nthe 0.1 0.2\nof 0.3\nand 0.5 0.6\n")
    with pytest.raises(InvalidFileError, match=":5: "):
        load(path, limit=2)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Text of about 50 MB."""
    path = tmp_path_factory.mktemp("large") / "large.vec"
    matrix = np.random.default_rng(7).normal(size=(50_000, 100)).astype(np.float32)
    save(Vectors(Keys.of(f"word{row}" for row in range(50_000)), matrix), path)
    assert path.stat().st_size > 45 * MEGABYTE
    return path


def memory(path: Path, **options: object) -> tuple[Vectors, int, int]:
    """What is loaded, the memory it keeps and the most it took on the way."""
    load(path, **options)  # type: ignore[arg-type]  # so that what is compiled once does not count
    tracemalloc.start()
    try:
        vectors = load(path, **options)  # type: ignore[arg-type]
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return vectors, kept, peak


def test_few_words_of_a_large_file_take_little_memory(large: Path) -> None:
    asked = ["word49999", "word7", "word30000"]
    vectors, kept, peak = memory(large, only=asked)
    assert list(vectors) == ["word7", "word30000", "word49999"]
    assert kept < 4 * MEGABYTE
    assert peak < 5 * source.BLOCK_BYTES + 8 * MEGABYTE


def test_memory_depends_on_the_block_not_on_the_file(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "BLOCK_BYTES", MEGABYTE)
    _, _, peak = memory(large, only=["word49999"])
    assert peak < 12 * MEGABYTE


@pytest.mark.parametrize("only", [None, ["word5"]])
def test_reading_stops_when_nothing_more_is_wanted(
    only: list[str] | None, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "BLOCK_BYTES", MEGABYTE)
    reporter = RecordingReporter()
    load(large, limit=10, only=only, reporter=reporter)
    assert list(reporter.stages) == [f"reading {large}"]
    assert max(done for done, _ in reporter.progress) <= 3 * MEGABYTE


@pytest.mark.parametrize("damage", ["cut", "corrupt"])
def test_the_first_rows_of_a_damaged_gzip_can_be_read(
    damage: str, large: Path, tmp_path: Path
) -> None:
    whole = gzip.compress(large.read_bytes(), compresslevel=1)
    half = len(whole) * 3 // 4
    tail = b"" if damage == "cut" else bytes(255 - byte for byte in whole[half:])
    (tmp_path / "damaged.vec.gz").write_bytes(whole[:half] + tail)
    found = load(tmp_path / "damaged.vec.gz", limit=1000)
    assert list(found)[::999] == ["word0", "word999"]
    assert found.matrix.tolist() == load(large, limit=1000).matrix.tolist()
