"""No pickle runs code, takes much time or memory, or raises anything but `InvalidFileError`."""

import os
import subprocess
import sys
from pathlib import Path
from random import Random
from time import perf_counter

import pytest
from gensim.test.utils import datapath

import malmoi as mm
from malmoi.cli import run
from tests.formats.hostile_pickles import CANARY, HOSTILE

MAX_SECONDS = 5


def test_there_are_many() -> None:
    assert len(set(HOSTILE.values())) == len(HOSTILE) >= 100


@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "hostile.model"
    path.write_bytes(HOSTILE[name])
    start = perf_counter()
    with pytest.raises(mm.InvalidFileError, match=r"pickle|gensim"):
        mm.load(path)
    assert perf_counter() - start < MAX_SECONDS
    assert not (tmp_path / CANARY).exists()


def test_the_canary_is_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's own reader runs what these pickles hold."""
    import pickle

    monkeypatch.chdir(tmp_path)
    pickle.loads(HOSTILE["posix.system"])
    assert (tmp_path / CANARY).exists()


def test_all_of_them_with_little_memory(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "tests.formats.hostile_pickles", str(tmp_path)],
        check=True,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )


@pytest.mark.filterwarnings("ignore::malmoi.errors.MalmoiWarning")
def test_damaged_models_are_invalid_files_or_vectors(tmp_path: Path) -> None:
    random = Random(1)
    names = ("old_w2v_models/w2v_3.4.0.mdl", "word2vec_old", "compatible-hash-true.model")
    models = [Path(datapath(name)).read_bytes() for name in names]
    path, refused = tmp_path / "x.model", 0
    for _ in range(600):
        content = bytearray(random.choice(models))
        for _ in range(random.choice((1, 2, 20))):
            content[random.randrange(2, len(content))] = random.randrange(256)
        if random.random() < 0.2:
            del content[random.randrange(2, len(content)) :]
        path.write_bytes(content)
        try:
            mm.load(path)
        except mm.InvalidFileError:
            refused += 1
    assert refused > 200


def test_the_commands_print_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "hostile.model"
    path.write_bytes(HOSTILE["os.system"])
    for command in (["inspect", str(path)], ["convert", str(path), str(tmp_path / "o.malmoi")]):
        assert run(command) != 0
        assert "names os.system" in capsys.readouterr().err
