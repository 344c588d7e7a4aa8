"""What docs/projector.md shows is executed, in an empty folder."""

from pathlib import Path

import pytest

from tests.pages import blocks


def test_the_python_of_the_page_writes_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks("projector", "python"):
        exec(block, names)
    assert names["size"] == (tmp_path / "glove.html").stat().st_size
