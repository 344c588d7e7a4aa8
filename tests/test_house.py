"""What is imported when: the promises that keep the command quick."""

import subprocess
import sys
from pathlib import Path

import pytest

import malmoi
from malmoi.formats import save
from tests.query.worlds import capitals


def modules_after(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return set(done.stdout.decode().splitlines()[-1].split())


def test_importing_malmoi_imports_no_numpy() -> None:
    assert "numpy" not in modules_after("import malmoi")


def test_help_imports_no_numpy() -> None:
    code = "from malmoi.cli import run\nrun(['--help'])"
    assert "numpy" not in modules_after(code)


def test_a_query_on_our_own_file_imports_no_numba(tmp_path: Path) -> None:
    path = tmp_path / "capitals.malmoi"
    save(capitals(), path)
    code = f"from malmoi.cli import run\nrun(['neighbours', {str(path)!r}, '한국'])"
    assert "numba" not in modules_after(code)


def test_every_public_name_is_there_and_no_other() -> None:
    for name in malmoi.__all__:
        assert getattr(malmoi, name) is not None
    assert set(malmoi.__all__) < set(dir(malmoi))
    with pytest.raises(AttributeError, match="no attribute 'train_everything'"):
        _ = malmoi.train_everything
