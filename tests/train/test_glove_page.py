"""What docs/glove.md shows is executed, and its picture is the function that is used."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from malmoi.models.cooccurrences import Cooccurrences
from malmoi.train.glove.records import make_records
from malmoi.vocabulary import Vocabulary
from tests.pages import DOCS, blocks


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    lines = ["ice is cold and solid", "steam is hot and gas", "ice and steam are water"] * 20
    (tmp_path / "corpus.txt").write_text("\n".join(lines))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path}
    commands = [*blocks("glove", "sh")[0].splitlines(), *blocks("glove", "sh")[1].splitlines()[:2]]
    for line in commands:
        done = subprocess.run(shlex.split(line), cwd=tmp_path, env=environment, capture_output=True)
        assert done.returncode == 0, (line, done.stderr.decode())
    (program,) = blocks("glove", "python")
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    near, losses = done.stdout.decode().splitlines()
    assert f"# {near}\n" in program
    assert losses.startswith("[")


def test_the_picture_is_the_function() -> None:
    (path,) = re.findall(r'class="line blue" d="M(.*?)"', (DOCS / "glove-weight.svg").read_text())
    points = np.array([point.split() for point in path.split("L")], dtype=float)[1:]
    x, drawn = (points[:, 0] - 60) / 2.4, (180 - points[:, 1]) / 130  # x_max is at 100
    counts = Cooccurrences(
        Vocabulary.of({f"{i}": 1 for i in range(len(x))}),
        np.r_[0, np.full(len(x), len(x))],
        np.arange(len(x), dtype=np.uint32),
        x.astype(np.float32),
    )
    records = make_records(counts, 100.0, 0.75, plus_one=False, row_bytes=64)
    assert records.weights == pytest.approx(drawn, abs=1e-3)
