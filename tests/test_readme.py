"""README's commands and Python are executed, one after the other, in a folder like the clone."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

CLONE = Path(__file__).parents[1]
README = CLONE / "README.md"


def blocks(language: str) -> list[str]:
    found = re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert found, f"README has no {language}"
    return found


def test_readme_does_what_it_says(tmp_path: Path) -> None:
    for text in (README, CLONE / "CHANGELOG.md"):  # to train on, and to search
        shutil.copy(text, tmp_path)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    ours = [line for line in commands if line.startswith("malmoi ")]
    assert len(ours) >= 5
    for line in ours:
        done = subprocess.run(
            shlex.split(line, comments=True),
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
        )
        assert done.returncode == 0, (line, done.stderr.decode())
        assert done.stdout
    program = "\n".join(blocks("python"))
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode() == "1 found, 0 from subwords, 1 missing (qwertyish)\n"


def test_readme_answers_are_the_real_ones(tmp_path: Path) -> None:
    import malmoi as mm

    vectors = mm.load("glove-6b-50d", limit=50_000)
    code = "\n".join(blocks("python"))
    answers = re.findall(r"^(mm\..+?)\s+# (.+)$", code, re.MULTILINE)
    shown = {call: expected for call, expected in answers if expected.startswith(("'", "["))}
    assert len(shown) == 3
    for call, expected in shown.items():
        answer = repr(eval(call, {"mm": mm, "vectors": vectors}))
        assert answer.startswith(expected.split("…")[0])
