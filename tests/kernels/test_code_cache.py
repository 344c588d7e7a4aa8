"""Machine code on disk: found again, and never a reason to fail."""

import errno
import importlib.util
import os
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import config

from malmoi.kernels.core import code_cache, code_files
from malmoi.kernels.core.code_files import kernels_stamp, read_code, write_code

SOURCE = """
from malmoi.kernels.core.jit import jit

@jit
def doubled(numbers):
    total = 0.0
    for number in numbers:
        total += 2 * number
    return total
"""
Load = Callable[[], Any]


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Makes the kernel of a source file, as a new process would."""
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setenv("MALMOI_CACHE", str(tmp_path / "user"))
    code_cache.report_unsaved.cache_clear()
    source = tmp_path / "package" / "doubling.py"
    source.parent.mkdir()
    source.write_text(SOURCE)

    def load() -> Any:
        spec = importlib.util.spec_from_file_location("doubling", source)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.doubled

    return load


def came_from(kernel: Any) -> str:
    """Where the code for the only signature of a kernel was found, once it has run."""
    assert kernel(np.ones(3)) == 6
    return "cache" if sum(kernel.stats.cache_hits.values()) else "compiler"


def code_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.kernel"))


def test_code_lies_next_to_the_source_and_is_found_again(fresh: Load, tmp_path: Path) -> None:
    assert came_from(fresh()) == "compiler"
    assert came_from(fresh()) == "cache"
    (path,) = code_in(tmp_path)
    assert path.parent == tmp_path / "package" / "__pycache__"


@pytest.mark.parametrize("damage", ["empty", "cut", "one bit", "noise", "other pickle"])
def test_damaged_code_is_compiled_anew(fresh: Load, tmp_path: Path, damage: str) -> None:
    came_from(fresh())
    (path,) = code_in(tmp_path)
    whole = path.read_bytes()
    flipped = bytes([whole[-100] ^ 1])
    path.write_bytes(
        {
            "empty": b"",
            "cut": whole[: len(whole) // 2],
            "one bit": whole[:-100] + flipped + whole[-99:],
            "noise": np.random.default_rng(1).bytes(len(whole)),
            "other pickle": b"\x80\x04N.",
        }[damage]
    )
    assert came_from(fresh()) == "compiler"
    assert came_from(fresh()) == "cache"


def test_code_with_a_right_checksum_and_a_wrong_pickle_is_compiled_anew(
    fresh: Load, tmp_path: Path
) -> None:
    came_from(fresh())
    (path,) = code_in(tmp_path)
    write_code(path, b"\x80\x04N.", tmp_path / "package" / "doubling.py")  # pickle of None
    assert came_from(fresh()) == "compiler"
    assert came_from(fresh()) == "cache"


def test_code_goes_to_the_users_cache_where_the_package_cannot_be_written(
    fresh: Load, tmp_path: Path
) -> None:
    (tmp_path / "package" / "__pycache__").write_text("in the way")
    assert came_from(fresh()) == "compiler"
    (path,) = code_in(tmp_path)
    assert path.is_relative_to(tmp_path / "user" / "kernels")
    assert path.parent.stat().st_mode & 0o077 == 0
    assert came_from(fresh()) == "cache"


def test_a_kernel_runs_where_nothing_can_be_written_and_that_is_said_once(
    fresh: Load, tmp_path: Path
) -> None:
    for name in ("package/__pycache__", "user"):
        (tmp_path / name).write_text("in the way")
    with pytest.warns(UserWarning, match=r"kernels cannot be cached .*MALMOI_CACHE"):
        assert came_from(fresh()) == "compiler"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert came_from(fresh()) == "compiler"


def test_a_kernel_runs_for_a_user_without_home(
    fresh: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("MALMOI_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    (tmp_path / "package" / "__pycache__").write_text("in the way")
    with pytest.warns(UserWarning, match="kernels cannot be cached"):
        assert came_from(fresh()) == "compiler"


def test_a_full_disk_is_no_reason_to_fail_and_leaves_no_part(
    fresh: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.warns(UserWarning, match="No space left on device"):
        assert came_from(fresh()) == "compiler"
    assert [path for path in tmp_path.rglob("*.kernel*") if path.is_file()] == []


def test_a_folder_that_others_can_write_is_neither_read_nor_written(
    fresh: Load, tmp_path: Path
) -> None:
    came_from(fresh())
    (tmp_path / "package" / "__pycache__").chmod(0o777)
    assert came_from(fresh()) == "compiler"
    assert len(code_in(tmp_path / "user")) == 1
    (folder,) = {path.parent for path in code_in(tmp_path / "user")}
    folder.chmod(0o777)
    with pytest.warns(UserWarning, match="other users can write to it"):
        assert came_from(fresh()) == "compiler"


def test_a_change_in_any_kernel_is_noticed(
    fresh: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numba looks at the file of the kernel alone, and not at what was inlined in it."""
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "small.py").write_text("STEP = 1")
    monkeypatch.setattr(code_files, "KERNELS", kernels)
    kernels_stamp.cache_clear()
    came_from(fresh())
    (before,) = code_in(tmp_path)
    (kernels / "small.py").write_text("STEP = 2")
    kernels_stamp.cache_clear()
    assert came_from(fresh()) == "compiler"
    (after,) = code_in(tmp_path)  # what nobody will ask for again is removed
    assert after != before
    kernels_stamp.cache_clear()


def test_a_kernel_edited_before_it_is_compiled_is_not_taken_for_the_new_one(
    fresh: Load, tmp_path: Path
) -> None:
    source = tmp_path / "package" / "doubling.py"
    old = fresh()
    source.write_text(SOURCE.replace("2 * number", "3.25 * number"))
    assert came_from(old) == "compiler"
    assert fresh()(np.ones(4)) == 13


def test_threads_that_save_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text("")
    path = tmp_path / "__pycache__" / "some.kernel"
    codes = [bytes([number]) * 200_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda code: write_code(path, code, source), codes * 5))
    assert read_code(path, source) in codes
    assert list(path.parent.iterdir()) == [path]
