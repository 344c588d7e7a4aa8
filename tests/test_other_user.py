"""A package that root has installed, used by somebody without a home, as in many containers."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.train.worlds import lines

USER = "54321"  # whom the system does not know
READ = "-all,+dac_read_search"  # the interpreter may be root's own; nothing can be written
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
AS_USER += [f"--inh-caps={READ}", "--ambient-caps=+dac_read_search", f"--bounding-set={READ}"]
SMALL = "--dim 6 --min-count 1 --epochs 1"
PROGRAM = """
import sys
from malmoi.cli import run
from malmoi.encode.runtime import engine
engine.MUCH = 1
for line in sys.argv[1:]:
    print(">", line, file=sys.stderr)
    code = run(line.split())
    if code:
        sys.exit(code)
"""

pytestmark = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("setpriv") is None,
    reason="only root can become another user, and setpriv is needed for it",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the other user may write, with a text."""
    (tmp_path / "text.txt").write_text("\n".join(lines(60)))
    os.chown(tmp_path, int(USER), int(USER))
    return tmp_path


def run_as_other(folder: Path, *lines: str, **changed: str) -> subprocess.CompletedProcess[str]:
    """Run commands in one process, without a home and without any cache folder."""
    hidden = ("HOME", "XDG_CACHE_HOME", "MALMOI_CACHE", "NUMBA_CACHE_DIR")
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    words = [*AS_USER, sys.executable, "-c", PROGRAM, *lines]
    paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.run(
        words, cwd=folder, env=kept | paths | changed, capture_output=True, text=True
    )


def test_models_are_trained_and_asked(folder: Path) -> None:
    done = run_as_other(
        folder,
        f"train word2vec text.txt --out skip.malmoi {SMALL}",
        f"train word2vec text.txt --out cbow.malmoi --architecture cbow {SMALL}",
        f"train fasttext text.txt --out sub.malmoi {SMALL}",
        "train glove text.txt --out glove.malmoi --dim 6 --min-count 1 --iterations 1",
        "train lsa text.txt --out lsa.malmoi --dim 3 --min-count 1",
        "neighbours sub.malmoi shepe",
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("no cache folder can be written") == 1
    assert "Traceback" not in done.stderr


def test_an_encoder_changes_engines_and_an_index_is_searched(folder: Path) -> None:
    done = run_as_other(
        folder,
        "embed hello --model minilm",
        "embed again --model minilm",
        "index text.txt --out found --model minilm",
        "search found sheep",
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_code_that_cannot_be_kept_is_said_once(folder: Path) -> None:
    done = run_as_other(
        folder,
        "vocab text.txt --min-count 1",
        NUMBA_CACHE_DIR="/proc/nowhere",
        MALMOI_CACHE=str(folder),
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("kernels cannot be cached (/proc/nowhere") == 1


def test_a_cache_folder_that_cannot_be_written_is_named(folder: Path) -> None:
    done = run_as_other(
        folder, f"train word2vec text.txt --out a.vec {SMALL}", MALMOI_CACHE="/proc/x"
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("malmoi: ")
    assert "/proc/x" in done.stderr.splitlines()[-1]
    assert "MALMOI_CACHE" in done.stderr.splitlines()[-1]
