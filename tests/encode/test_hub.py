"""Models by their name on the hub: fetched from a hub on this computer, kept, checked."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.encode.checkpoints import save_model
from tests.encode.hub_server import COMMIT, Hub, serving

pytest.importorskip("huggingface_hub")
NAME = "small/bert"
ASK = (
    "import sys, malmoi\n"
    "try:\n"
    "    print(malmoi.load_transformer(sys.argv[1]).encode(['the bank']).shape)\n"
    "except malmoi.MalmoiError as error:\n"
    "    print(error)\n"
)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    folder = tmp_path / "remote"
    save_model(folder, "bert")
    (folder / "pytorch_model.bin").write_bytes(b"never to be fetched")
    for name in ("onnx", "openvino"):
        (folder / name).mkdir()
        (folder / name / "config.json").write_text("{}")
        (folder / name / "model.onnx").write_bytes(b"never to be fetched")
    with serving(Hub(NAME, folder)) as served:
        yield served


def ask(hub: Hub, tmp_path: Path, name: str = NAME, program: str = ASK, **environment: str) -> str:
    """What a fresh process says that knows this hub and no other."""
    own = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "kept"), "HF_HUB_DISABLE_XET": "1"}
    settings = {**os.environ, "HF_HUB_OFFLINE": "0", "NO_PROXY": "*", **own, **environment}
    done = subprocess.run(
        [sys.executable, "-c", program, name],
        env=settings,
        cwd=tmp_path,
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout.strip()


def test_a_name_on_the_hub_is_inspected(hub: Hub, tmp_path: Path) -> None:
    program = "import sys; from malmoi.cli import run; sys.exit(run(['inspect', sys.argv[1]]))"
    assert ask(hub, tmp_path, program=program).startswith("family      bert\nlayers      3 of 32 ")


def test_only_what_is_needed_is_fetched_and_kept(hub: Hub, tmp_path: Path) -> None:
    assert ask(hub, tmp_path) == "(1, 32)"
    expected = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
    assert sorted(hub.fetched) == expected
    assert ask(hub, tmp_path) == "(1, 32)"
    assert ask(hub, tmp_path, HF_HUB_OFFLINE="1") == "(1, 32)"
    assert ask(hub, tmp_path, HF_ENDPOINT="http://127.0.0.1:9") == "(1, 32)"
    assert sorted(hub.fetched) == expected


def test_a_revision_is_pinned(hub: Hub, tmp_path: Path) -> None:
    assert ask(hub, tmp_path, f"{NAME}@{COMMIT}") == "(1, 32)"
    assert ask(hub, tmp_path, f"{NAME}@{COMMIT}", HF_HUB_OFFLINE="1") == "(1, 32)"
    assert "the model exists, but has no revision 'v9'" in ask(hub, tmp_path, f"{NAME}@v9")


def test_weights_that_arrive_changed_are_refused(hub: Hub, tmp_path: Path) -> None:
    hub.corrupt.add("model.safetensors")
    for _ in range(2):  # and go on being refused
        assert "model.safetensors is damaged, its SHA-256 is not that on the Hub: delete" in ask(
            hub, tmp_path
        )
    hub.corrupt.clear()
    shutil.rmtree(tmp_path / "kept")
    assert ask(hub, tmp_path) == "(1, 32)"


def test_a_model_without_safetensors(hub: Hub, tmp_path: Path) -> None:
    (hub.folder / "model.safetensors").unlink()
    said = ask(hub, tmp_path)
    assert "has no safetensors on the Hub" in said
    assert "malmoi convert FOLDER NEW_FOLDER" in said
    assert "pytorch_model.bin" not in hub.fetched


def test_without_a_network_one_sentence_says_what_to_do(hub: Hub, tmp_path: Path) -> None:
    said = ask(hub, tmp_path, HF_ENDPOINT="http://127.0.0.1:9")
    assert said.startswith(f"there is no folder {NAME}, and it cannot be downloaded from the Hub (")
    assert said.endswith("copy the model folder here and pass its path")
    assert "\n" not in said
    assert "HF_HUB_OFFLINE is set and it is not in the cache" in ask(
        hub, tmp_path, HF_HUB_OFFLINE="1"
    )
    assert "there is no such model" in ask(hub, tmp_path, "no/body")
