"""What is imported when: the promises that keep the command quick."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import malmoi
from malmoi.files.cache_folder import cache_folder
from malmoi.formats import save
from tests.query.worlds import capitals


def modules_after(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return set(done.stdout.decode().splitlines()[-1].split())


def test_importing_malmoi_imports_no_numpy() -> None:
    assert "numpy" not in modules_after("import malmoi")


def test_importing_malmoi_imports_no_framework() -> None:
    """Nor does what most programs use: each adapter imports its own framework."""
    adapted = {"sklearn", "langchain_core", "llama_index", "haystack", "chromadb", "spacy"}
    others = {"pandas", "polars", "duckdb", "pyarrow"}
    code = "import malmoi as mm\nmm.build_index(mm.Vectors(['a'], [[1]])).search('a')"
    assert not (adapted | others) & modules_after(code)


def test_help_imports_no_numpy() -> None:
    code = "from malmoi.cli import run\nrun(['--help'])"
    assert "numpy" not in modules_after(code)


def test_a_query_on_our_own_file_imports_no_numba(tmp_path: Path) -> None:
    path = tmp_path / "capitals.malmoi"
    save(capitals(), path)
    code = f"from malmoi.cli import run\nrun(['neighbours', {str(path)!r}, '한국'])"
    assert "numba" not in modules_after(code)


def test_a_text_embedded_imports_no_numba() -> None:
    code = "from malmoi.cli import run\nrun(['embed', 'hello', '--model', 'minilm'])"
    assert "numba" not in modules_after(code)


def test_every_public_name_is_there_and_no_other() -> None:
    for name in malmoi.__all__:
        assert getattr(malmoi, name) is not None
    assert set(malmoi.__all__) < set(dir(malmoi))
    with pytest.raises(AttributeError, match="no attribute 'train_everything'"):
        _ = malmoi.train_everything  # type: ignore[attr-defined]


def test_tests_keep_nothing_in_the_users_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    assert cache_folder("corpora").is_relative_to(tmp_path_factory.getbasetemp())


def test_a_model_leaves_nothing_at_home(tmp_path: Path) -> None:
    """Not the reports either that onnxruntime would send to its makers."""
    code = "import malmoi; malmoi.load_encoder('minilm').encode(['the bank'])"
    changed = {"HOME": str(tmp_path), "XDG_CACHE_HOME": "", "MALMOI_CACHE": ""}
    others = {name: value for name, value in os.environ.items() if not name.startswith("ORT_")}
    subprocess.run([sys.executable, "-c", code], check=True, env=others | changed)
    left = [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()]
    assert left == []
