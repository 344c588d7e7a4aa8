"""Conversion of vectors from file to file."""

from pathlib import Path

import numpy as np
import pytest

import malmoi as mm
from malmoi.vectors import row_norms
from tests.recording_reporter import RecordingReporter


@pytest.fixture
def source(tmp_path: Path) -> Path:
    mm.save(mm.Vectors(["a", "b", "c"], [[3, 4], [0, 2], [1, 1]]), tmp_path / "old.vec")
    return tmp_path / "old.vec"


def test_a_converted_file_has_the_same_vectors(source: Path, tmp_path: Path) -> None:
    reporter = RecordingReporter()
    converted = mm.convert(source, tmp_path / "new.malmoi", reporter=reporter)
    loaded = mm.load(tmp_path / "new.malmoi")
    assert loaded.keys == converted.keys == mm.load(source).keys
    assert np.array_equal(loaded.matrix, mm.load(source).matrix)
    names = list(reporter.stages)
    assert names == [f"reading {source}", f"writing {tmp_path / 'new.malmoi'}"]


def test_settings_select_and_normalize_rows(source: Path, tmp_path: Path) -> None:
    reporter = RecordingReporter()
    settings = mm.ConvertSettings(only=["a", "z"], normalize=True, format="glove")
    mm.convert(source, tmp_path / "new", settings, reporter=reporter)
    loaded = mm.load(tmp_path / "new")
    assert list(loaded) == ["a"]
    np.testing.assert_allclose(row_norms(loaded.matrix), 1)
    assert reporter.warnings == [f"words that are not in {source}: 1, such as 'z'"]


def test_a_folder_cannot_be_converted(tmp_path: Path) -> None:
    with pytest.raises(mm.InvalidArgumentError, match="is a folder: name a file of vectors"):
        mm.convert(tmp_path, tmp_path / "new.vec")
