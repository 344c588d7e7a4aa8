"""Writers that are killed leave the last state that they committed."""

import subprocess
import sys
from pathlib import Path

import pytest

from malmoi.errors import InvalidFileError
from malmoi.files.lock import folder_lock
from malmoi.search.build import build_index, open_index
from tests.search.worlds import TEXTS, BagOfWords

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_fifty_killed_writers_each_leave_a_committed_state(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tests.search.killing", str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "commits" in done.stdout
    assert "texts kept" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_a_second_writer_is_refused_and_readers_are_not(tmp_path: Path) -> None:
    index = build_index(BagOfWords(), TEXTS, path=tmp_path / "i")
    program = (
        "import sys, time; from pathlib import Path; from malmoi.files.lock import folder_lock\n"
        "with folder_lock(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    )
    words = [sys.executable, "-c", program, str(tmp_path / "i")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(
            InvalidFileError, match=rf"being written by another process \({holder.pid}\)"
        ):
            index.delete(["1"])
        assert len(open_index(tmp_path / "i", BagOfWords()).search("river", 99)) == 8
        holder.kill()
    assert index.delete(["1"]) == 1
    with folder_lock(tmp_path / "i"):
        pass


def test_damaged_and_half_deleted_indexes_are_told(tmp_path: Path) -> None:
    path = tmp_path / "i"
    index = build_index(BagOfWords(), TEXTS, path=path)
    (segment,) = path.glob("segment-*")
    whole, manifest = segment.read_bytes(), (path / "manifest.json").read_bytes()
    for cut in (0, 7, 100, len(whole) // 2, len(whole) - 1):
        segment.write_bytes(whole[:cut])
        with pytest.raises(InvalidFileError, match=f"{segment.name}"):
            open_index(path)
    segment.unlink()
    with pytest.raises(
        InvalidFileError, match=f"incomplete, {segment.name} is missing: build it anew"
    ):
        open_index(path)
    segment.write_bytes(whole)
    for broken in (b"", b"{}", b"[]", b"null", manifest[:-20], b'{"malmoi index": 1}'):
        (path / "manifest.json").write_bytes(broken)
        with pytest.raises(InvalidFileError, match="damaged"):
            open_index(path)
    (path / "manifest.json").write_bytes(
        manifest.replace(b'"malmoi index": 1', b'"malmoi index": 9')
    )
    with pytest.raises(InvalidFileError, match="of version 9; this malmoi reads 1"):
        open_index(path)
    (path / "manifest.json").unlink()
    with pytest.raises(InvalidFileError, match=r"is not an index: it has no manifest\.json"):
        open_index(path)
    with pytest.raises(InvalidFileError, match="does not exist"):
        open_index(tmp_path / "nowhere")
    del index


def test_an_index_is_not_made_where_other_things_are(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(InvalidFileError, match="a folder with other files"):
        build_index(BagOfWords(), TEXTS, path=tmp_path)
    with pytest.raises(InvalidFileError, match="is a file: an index is a folder"):
        build_index(BagOfWords(), TEXTS, path=tmp_path / "letter.txt")
    with pytest.raises(InvalidFileError, match="cannot be created"):
        build_index(BagOfWords(), TEXTS, path=tmp_path / "no" / "such")
