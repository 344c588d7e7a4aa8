"""An index whose files were damaged, exchanged or tampered with: told, never searched."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.tampering import signed_again, taken_apart
from malmoi.cli import run
from malmoi.errors import InvalidFileError
from malmoi.files import tensors
from malmoi.files.source import InputFile
from malmoi.files.tensors import read_safetensors, write_safetensors
from malmoi.search.build import build_index, open_index
from malmoi.vectors import Vectors
from tests.search.worlds import FIELDS, TEXTS, BagOfWords, edit_manifest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build_index(BagOfWords(), TEXTS, fields=FIELDS, path=tmp_path / "i")
    return tmp_path / "i"


@pytest.mark.parametrize("name", ["../segment-1.malmoi", "/etc/passwd", "segment-1.malmoi/x", ""])
def test_a_manifest_never_leads_out_of_its_folder(name: str, folder: Path) -> None:
    edit_manifest(folder, lambda manifest: manifest["segments"][0].update(file=name))
    with pytest.raises(InvalidFileError, match="is not the name of a file of an index"):
        open_index(folder)


def test_a_changed_manifest_is_told(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"passages": true', '"passages": null'))
    with pytest.raises(InvalidFileError, match=r"manifest\.json is damaged: its checksum is wrong"):
        open_index(folder)


@pytest.mark.parametrize(
    "entries",
    [{"dim": -1}, {"dim": 10**30}, {"next": "x"}, {"segments": [None]}, {"probe": {"text": "x"}},
     {"hangul": "?"}, {"prompts": {"a": 1}}, {"clusters": {"file": "clusters-1.faiss"}}],
)  # fmt: skip
def test_a_manifest_that_makes_no_sense_is_told(entries: dict[str, Any], folder: Path) -> None:
    edit_manifest(folder, lambda manifest: manifest.update(entries))
    with pytest.raises(InvalidFileError):
        open_index(folder, BagOfWords())


def test_segments_that_changed_places_are_told(tmp_path: Path) -> None:
    for name, texts in (("a", TEXTS), ("b", [text[::-1] for text in TEXTS])):
        build_index(BagOfWords(), texts, path=tmp_path / name)
    one, other = (next((tmp_path / name).glob("segment-*")) for name in "ab")
    one.write_bytes(other.read_bytes())
    with pytest.raises(
        InvalidFileError, match="is not the file that was written: its checksum differs"
    ):
        open_index(tmp_path / "a")


@pytest.mark.parametrize("limit", [0, 4 << 20])
def test_no_flipped_bit_of_a_segment_changes_what_is_found(
    limit: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensors, "VERIFY_LAZILY_ABOVE", limit)
    (segment,) = folder.glob("segment-*")
    content = segment.read_bytes()
    whole = open_index(folder, BagOfWords()).search("river bank", 4, hybrid=True)
    for at in range(8, len(content), 97):
        segment.write_bytes(content[:at] + bytes([content[at] ^ 8]) + content[at + 1 :])
        with suppress(InvalidFileError):
            assert open_index(folder, BagOfWords()).search("river bank", 4, hybrid=True) == whole


@pytest.mark.parametrize(
    ("tensor", "change"),
    [
        ("posting_rows", lambda array: array + np.uint32(1000)),
        ("posting_bounds", lambda array: array[::-1].copy()),
        ("posting_bounds", lambda array: array - 1),
        ("word_lengths", lambda array: array[:-1]),
        ("norms", lambda array: array[:-1]),
        ("id_rows", lambda array: array + np.uint32(1000)),
        ("text_offsets", lambda array: array * 2),
        ("field_codes lang", lambda array: array + np.uint32(99)),
        ("digests", lambda array: array[:, :2]),
    ],
)
@pytest.mark.parametrize("limit", [0, 4 << 20])
def test_a_segment_that_makes_no_sense_is_told(
    tensor: str, change: Any, limit: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensors, "VERIFY_LAZILY_ABOVE", limit)
    (segment,) = folder.glob("segment-*")
    arrays, metadata = read_safetensors(InputFile(segment))
    write_safetensors(segment, arrays | {tensor: change(arrays[tensor])}, metadata)
    header, _ = taken_apart(segment.read_bytes())
    checksum = header["__metadata__"]["crc32"]
    edit_manifest(folder, lambda manifest: manifest["segments"][0].update(crc32=checksum))
    with pytest.raises(InvalidFileError, match="damaged"):
        use_all(folder)


def use_all(folder: Path) -> None:
    index = open_index(folder, BagOfWords())
    index.search("river bank", 3, hybrid=True, where={"lang": "en"})
    assert all(index[id].text for id in index.vectors.keys)
    index.add(["new"], ids=["new"])


def test_damaged_clusters_never_reach_faiss(tmp_path: Path) -> None:
    matrix = np.random.default_rng(2).normal(size=(1200, 8)).astype(np.float32)
    folder = tmp_path / "i"
    build_index(Vectors([str(i) for i in range(1200)], matrix), approximate=True, path=folder)
    (path,) = folder.glob("clusters-*")
    content = path.read_bytes()
    for at in range(0, len(content), len(content) // 40):
        path.write_bytes(content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :])
        with pytest.raises(InvalidFileError, match="is damaged: build the index anew"):
            open_index(folder).search("7")


def test_inspect_verifies_an_index(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", str(folder)]) == 0
    assert "CRC-32, all files verified" in capsys.readouterr().out
    (segment,) = folder.glob("segment-*")
    content = segment.read_bytes()
    segment.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert run(["inspect", str(folder)]) == 1
    assert "is damaged" in capsys.readouterr().err
    segment.write_bytes(signed_again(content))
    assert run(["inspect", str(folder)]) == 0
