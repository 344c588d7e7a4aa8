"""Which packages tuning needs: torch, but not transformers or sentence-transformers."""

import subprocess
import sys
from pathlib import Path

from tests.tune.worlds import scored_pairs, tiny_model

PROGRAM = """
import sys
for name in sys.argv[1].split(","):
    sys.modules[name] = None  # an import of it fails
from malmoi.cli import run
sys.exit(run(sys.argv[2:]))
"""


def tune_without(packages: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    model, path = tiny_model(folder / "model"), folder / "pairs.tsv"
    path.write_text("\n".join("\t".join(map(str, row)) for row in scored_pairs(8)))
    words = ("tune", "sentence", path, "--model", model, "--out", folder / "out", "--epochs", "1")
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, packages, *map(str, words)],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_transformers_is_not_needed(tmp_path: Path) -> None:
    done = tune_without("transformers,sentence_transformers,datasets,accelerate", tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "model.safetensors").is_file()


def test_without_torch_one_sentence_names_the_extra(tmp_path: Path) -> None:
    done = tune_without("torch", tmp_path)
    assert done.returncode == 1
    line = " ".join(done.stderr.split())
    assert line.count("malmoi: ") == 1
    assert line.endswith("pip install 'malmoi[train]'")
    assert "torch" in line
    assert not (tmp_path / "out").exists()
