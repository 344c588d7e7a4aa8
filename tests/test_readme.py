"""README's commands and Python are executed, one after the other, in a folder like the clone."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import malmoi as mm
from tests.pages import assert_prints

pytestmark = pytest.mark.xdist_group("readme")  # one worker makes what all of them read

CLONE = Path(__file__).parents[1]
README = CLONE / "README.md"
NEVER_SEEN = "vectorize"  # the word that README asks its own vectors for


def blocks(language: str) -> list[str]:
    found = re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert found, f"README has no {language}"
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which README's commands were run; each printed what README says."""
    folder = tmp_path_factory.mktemp("clone")
    for text in (README, CLONE / "CHANGELOG.md"):  # to train on, and to search
        shutil.copy(text, folder)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    ours = [line for line in commands if line.startswith("malmoi ")]
    assert sum("  # " in line for line in ours) >= 6
    for line in ours:
        done = subprocess.run(
            shlex.split(line, comments=True),
            cwd=folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
        )
        assert done.returncode == 0, (line, done.stderr.decode())
        assert done.stdout
        assert_prints(line, done.stdout.decode())
    return folder


def test_readme_commands_print_what_it_says(folder: Path) -> None:
    assert (folder / "words.html").stat().st_size > 100_000


def test_readme_python_prints_what_it_says(folder: Path) -> None:
    program = "\n".join(blocks("python"))
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    shown = re.findall(r"^print.*?  # (.+)$", program, re.MULTILINE)
    assert len(shown) == 2
    for printed, expected in zip(done.stdout.decode().splitlines(), shown, strict=True):
        assert printed.startswith(expected.removesuffix("…"))


def test_the_word_never_seen_was_never_seen(folder: Path) -> None:
    assert sum(NEVER_SEEN in block for block in blocks("sh") + blocks("python")) == 2
    assert NEVER_SEEN not in (CLONE / "CHANGELOG.md").read_text(encoding="utf-8").lower()
    vectors = mm.load(folder / "own.malmoi")
    assert NEVER_SEEN not in vectors.keys
    assert isinstance(vectors, mm.SubwordVectors)
    assert vectors.explain(NEVER_SEEN).source == "n-grams"


def test_readme_answers_are_the_real_ones() -> None:
    vectors = mm.load("glove-6b-50d", limit=50_000)
    code = "\n".join(blocks("python"))
    answers = re.findall(r"^(mm\..+?)\s+# (.+)$", code, re.MULTILINE)
    shown = {call: expected for call, expected in answers if expected.startswith(("'", "Neigh"))}
    assert len(shown) == 3
    for call, expected in shown.items():
        answer = repr(eval(call, {"mm": mm, "vectors": vectors}))
        assert answer.startswith(expected.split("…")[0])
