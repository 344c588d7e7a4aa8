"""Where caches are kept, with a home, without one, and where nothing can be written."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from malmoi.errors import InvalidFileError, MalmoiWarning
from malmoi.files import cache_folder as module
from malmoi.files.cache_folder import cache_folder, temporary_folder


@pytest.fixture(autouse=True)
def nothing_given(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("MALMOI_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    temporary_folder.cache_clear()
    yield
    temporary_folder.cache_clear()


def no_home() -> Path:
    raise RuntimeError("Could not determine home directory.")


def test_each_kind_has_a_folder_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder("corpora") == tmp_path / ".cache" / "malmoi" / "corpora"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "kept"))
    assert cache_folder("corpora") == tmp_path / "kept" / "malmoi" / "corpora"
    monkeypatch.setenv("MALMOI_CACHE", "given")
    assert cache_folder("corpora") == Path("given")


def test_without_a_home_a_private_folder_is_used_and_said_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.warns(MalmoiWarning, match=r"no cache folder can be written.*MALMOI_CACHE") as told:
        folders = [cache_folder(kind) for kind in ("corpora", "encoders", "corpora")]
    assert len(told) == 1
    assert folders[0] == folders[2] != folders[1]
    assert folders[0].parent.stat().st_mode & 0o077 == 0


def test_a_home_that_is_a_file_is_no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with pytest.warns(MalmoiWarning, match="no cache folder can be written"):
        assert cache_folder("corpora").parent == temporary_folder()


def test_where_nothing_can_be_written_that_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nowhere(prefix: str) -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.setattr(module.tempfile, "mkdtemp", nowhere)  # type: ignore[attr-defined]
    with pytest.raises(InvalidFileError, match="name a folder in MALMOI_CACHE"):
        cache_folder("corpora")
