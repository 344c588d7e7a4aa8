"""A folder that is not written to its end: what is left, and how the error names it."""

import subprocess
import sys
from pathlib import Path

import pytest

from malmoi.encode.checkpoint.convert import folder_beside
from malmoi.errors import InvalidFileError

LEAVING = """
import os, signal, sys
from pathlib import Path
from malmoi.encode.checkpoint.convert import folder_beside
with folder_beside(Path(sys.argv[1])) as part:
    (part / "weights").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_folder_of_a_killed_process_is_removed_by_the_next(tmp_path: Path) -> None:
    out = tmp_path / "out[1]"
    subprocess.run([sys.executable, "-c", LEAVING, str(out)], check=False, timeout=60)
    assert len(list(tmp_path.iterdir())) == 1
    other = tmp_path / f".{out.name}.1-00.part"  # of a process that is alive
    other.mkdir()
    with folder_beside(out) as part:
        (part / "weights").write_text("whole")
    assert {path.name for path in tmp_path.iterdir()} == {out.name, other.name}
    assert (out / "weights").read_text() == "whole"


def test_an_error_names_the_file_by_the_name_it_was_to_have(tmp_path: Path) -> None:
    with (
        pytest.raises(InvalidFileError, match=f"^{tmp_path}/out/weights was not written$"),
        folder_beside(tmp_path / "out") as part,
    ):
        raise InvalidFileError(f"{part / 'weights'} was not written")
    assert list(tmp_path.iterdir()) == []
