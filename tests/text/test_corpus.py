import csv
import gzip
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from malmoi.errors import InvalidArgumentError, InvalidFileError, MalmoiWarning
from malmoi.text import readers
from malmoi.text.corpus import Corpus

LINES = ["I like deep learning", "나는 사과를 좋아해", "I enjoy flying"]
TEXT = "\n".join(LINES) + "\n"


@pytest.fixture(params=["txt", "txt.gz", "txt.zst", "jsonl", "csv", "tsv", "parquet", "memory"])
def corpus(request: pytest.FixtureRequest, tmp_path: Path) -> Corpus:
    kind: str = request.param
    path = tmp_path / f"text.{kind}"
    if kind == "txt":
        path.write_text(TEXT, encoding="utf-8")
    elif kind == "txt.gz":
        path.write_bytes(gzip.compress(TEXT.encode()))
    elif kind == "txt.zst":
        path.write_bytes(zstandard.compress(TEXT.encode()))
    elif kind == "jsonl":
        path.write_text("\n".join(json.dumps({"id": 1, "body": line}) for line in LINES))
    elif kind in ("csv", "tsv"):
        with path.open("w", newline="", encoding="utf-8") as file:
            dialect = "excel" if kind == "csv" else "excel-tab"
            csv.writer(file, dialect).writerows(
                [["id", "body"], *([i, t] for i, t in enumerate(LINES))]
            )
    elif kind == "parquet":
        pq.write_table(pa.table({"body": LINES}), path)
    else:
        return Corpus.of(LINES)
    return Corpus.of(path, field=None if kind.startswith("txt") else "body")


def test_documents_come_out_of_every_kind_of_file_as_often_as_wanted(corpus: Corpus) -> None:
    assert list(corpus) == LINES
    assert list(corpus) == LINES


def test_shards_are_the_same_documents(corpus: Corpus) -> None:
    for count in (1, 2, 3, 7):
        assert [text for shard in corpus.shards(count) for text in shard] == LINES


def test_plain_text_is_shared_by_bytes(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    lines = [f"line {i} " + "x" * (i % 70) for i in range(2000)]
    path.write_text("\n".join(lines))
    shards = Corpus.of(path).shards(4)
    assert len(shards) == 4
    assert [text for shard in shards for text in shard] == lines
    sizes = [sum(map(len, shard)) for shard in shards]
    assert max(sizes) < 1.1 * min(sizes)


def test_a_folder_is_read_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b" / "c.txt.gz").write_bytes(gzip.compress(b"three\n"))
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    assert list(Corpus.of(tmp_path)) == ["one", "two", "three"]


def test_standard_input_can_be_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(TEXT.encode())

    monkeypatch.setattr(sys, "stdin", Stdin)
    corpus = Corpus.of("-")
    assert list(corpus) == list(corpus) == LINES
    assert list(Corpus.of("-")) == LINES


def test_another_standard_input_is_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in (b"one\n", b"two\n"):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
        assert list(Corpus.of("-")) == [text.decode().strip()]


def test_a_line_longer_than_a_block_is_cut_at_spaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "BLOCK_BYTES", 1000)
    path = tmp_path / "giant.txt"
    words = [f"w{i}" for i in range(5000)]
    path.write_text(" ".join(words))
    blocks = list(Corpus.of(path).blocks())
    assert max(map(len, blocks)) <= 2000
    assert b"".join(block.tobytes() for block in blocks).split() == [w.encode() for w in words]


@pytest.mark.parametrize("encoding", ["cp949", "euc-kr", "utf-16"])
def test_other_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "old.txt"
    path.write_text(TEXT, encoding=encoding)
    assert list(Corpus.of(path, encoding=encoding)) == LINES


def test_latin_1_table(tmp_path: Path) -> None:
    path = tmp_path / "spam.csv"
    path.write_bytes('v1,v2\nham,"caf\xe9, ""ok""\nlar"\nspam,win\n'.encode("latin-1"))
    assert list(Corpus.of(path, field="v2", encoding="latin-1")) == ['café, "ok" lar', "win"]


def test_bad_bytes_are_told(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(b"good\nb\xffd\n")
    with pytest.warns(MalmoiWarning, match="not text"):
        assert list(Corpus.of(path)) == ["good", "b\ufffdd"]


def test_the_fingerprint_changes_with_the_text_and_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one")
    first = Corpus.of(path).fingerprint()
    assert Corpus.of(path).fingerprint() == first
    assert Corpus.of(path, encoding="cp949").fingerprint() != first
    path.write_text("other")
    assert Corpus.of(path).fingerprint() != first


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,body\n1,text\n")
    (tmp_path / "t.jsonl").write_text('{"body": "a"}\n{"text": 1}\n')
    (tmp_path / "bad.jsonl").write_text("{nope\n")
    with pytest.raises(InvalidArgumentError, match="no column 'text': it has id, body"):
        list(Corpus.of(tmp_path / "t.csv", field="text"))
    with pytest.raises(InvalidArgumentError, match="name the one that holds the text"):
        Corpus.of(tmp_path / "t.csv")
    for ending in ("txt", "csv", "tsv", "jsonl", "parquet", "csv.gz"):
        with pytest.raises(InvalidFileError, match=f"none.{ending} does not exist"):
            Corpus.of(tmp_path / f"none.{ending}", field="body")
    with pytest.raises(InvalidFileError, match=r"t.jsonl:2: there is no field 'body'"):
        list(Corpus.of(tmp_path / "t.jsonl", field="body"))
    with pytest.raises(InvalidFileError, match=r"bad.jsonl:1: this is not JSON"):
        list(Corpus.of(tmp_path / "bad.jsonl", field="body"))
    with pytest.raises(InvalidArgumentError, match="unknown encoding 'klingon'"):
        Corpus.of(tmp_path / "t.csv", field="body", encoding="klingon")
    with pytest.raises(InvalidFileError, match="does not exist"):
        Corpus.of(tmp_path / "missing.txt")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidFileError, match="holds no text files"):
        Corpus.of(tmp_path / "empty")


def test_texts_stand_as_they_are(corpus: Corpus) -> None:
    assert list(corpus.texts) == list(corpus.texts) == LINES


def test_texts_are_whole_and_none_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "BLOCK_BYTES", 100)
    giant = "word " * 200
    plain = tmp_path / "a.txt"
    plain.write_bytes(f"\ufeffone\r\n\n{giant}\nzero\u200bwidth \0 e\u0301".encode())
    texts = ["one", "", giant, "zero\u200bwidth \0 e\u0301"]
    assert list(Corpus.of(plain).texts) == texts
    (tmp_path / "b.jsonl").write_text('{"t": "a\\nb"}\n\n{"t": null}\n{"t": 3}\n')
    assert list(Corpus.of(tmp_path / "b.jsonl", field="t").texts) == ["a\nb", "", "3"]
    (tmp_path / "c.csv").write_text('id,t\n1,"a\nb"\n2\n\n3,c\n')
    assert list(Corpus.of(tmp_path / "c.csv", field="t").texts) == ["a\nb", "", "c"]
    pq.write_table(pa.table({"t": ["a", None, "b"]}), tmp_path / "d.parquet")
    assert list(Corpus.of(tmp_path / "d.parquet", field="t").texts) == ["a", "", "b"]


def test_nothing_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO()

    monkeypatch.setattr(sys, "stdin", Stdin)
    with pytest.raises(InvalidFileError, match="standard input is empty"):
        Corpus.of("-")


def test_texts_say_how_much_of_the_files_has_been_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.txt").write_text("three\n")
    told: list[tuple[int, int]] = []
    texts = Corpus.of(tmp_path).texts.with_progress(lambda *each: told.append(each))
    assert list(texts) == ["one", "two", "three"]
    assert told == sorted(told)
    assert told[-1] == (14, 14)


def test_damaged_tables_are_told_with_their_place(tmp_path: Path) -> None:
    table = tmp_path / "x.csv"
    table.write_bytes(b"id,body\n1,one\n2,tw\ro\n")
    with pytest.raises(InvalidFileError, match=r"x\.csv:3: this is not a valid row"):
        list(Corpus.of(table, field="body"))
    parquet = tmp_path / "x.parquet"
    pq.write_table(pa.table({"body": LINES}), parquet)
    parquet.write_bytes(parquet.read_bytes()[:-20] + b"PAR1")
    with pytest.raises(InvalidFileError, match=r"x\.parquet is damaged or is not a Parquet file"):
        list(Corpus.of(parquet, field="body"))
