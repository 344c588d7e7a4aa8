import io
import json
import unicodedata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.cells import cell_len

from malmoi.cli import index as cli_index
from malmoi.cli import run
from malmoi.cli import search as cli_search
from malmoi.search import index
from tests.search.worlds import FIELDS, TEXTS, BagOfWords

Output = pytest.CaptureFixture[str]
BAG = ["--model", "bag", "--out", "I"]


@pytest.fixture(autouse=True)
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An empty folder, where every model is a bag of words; the texts that it was given."""
    monkeypatch.chdir(tmp_path)
    seen: list[str] = []
    for module in (index, cli_index, cli_search):
        monkeypatch.setattr(module, "load_encoder", lambda name: BagOfWords(name, 16, (seen,)))
    return seen


def answer(words: list[str], capsys: Output) -> Any:
    capsys.readouterr()
    assert run([*words, "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def counts(found: dict[str, Any]) -> tuple[int, ...]:
    return tuple(found[name] for name in ("added", "changed", "removed", "unchanged", "embedded"))


def test_only_what_changed_is_embedded_again(seen: list[str], capsys: Output) -> None:
    Path("t.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    assert counts(answer(["index", "t.txt", *BAG], capsys)) == (8, 0, 0, 0, 8)
    seen.clear()
    assert counts(answer(["index", "t.txt", *BAG], capsys)) == (0, 0, 0, 8, 0)
    assert len(seen) == 1  # by which the model is known again
    Path("t.txt").write_text("\n".join(["new", *TEXTS[:6], "changed"]), encoding="utf-8")
    seen.clear()
    assert counts(answer(["index", "t.txt", *BAG], capsys)) == (0, 8, 0, 0, 2)
    assert seen[1:3] == ["new", "changed"]  # then pseudo-queries: every line has moved
    Path("t.txt").write_text("new\n", encoding="utf-8")
    assert counts(answer(["index", "t.txt", *BAG], capsys)) == (0, 0, 7, 1, 0)
    Path("u.txt").write_text("another\n", encoding="utf-8")
    assert counts(answer(["index", "u.txt", *BAG, "--add"], capsys)) == (1, 0, 0, 0, 1)
    assert answer(["search", "I", "another", "-k", "2"], capsys)[1]["id"] == "t.txt:1"


def test_json_lines_with_ids_and_fields(capsys: Output) -> None:
    rows = [
        {"_id": f"d{i}", "title": f"T{i}", "text": text, **fields}
        for i, (text, fields) in enumerate(zip(TEXTS, FIELDS, strict=True))
    ]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    Path("d.jsonl").write_text("\n".join(lines), encoding="utf-8")
    options = ["--field", "title", "--field", "text", "--id", "_id"]
    assert answer(["index", "d.jsonl", *BAG, *options], capsys)["added"] == 8
    (hit,) = answer(["search", "I", "bank", "--filter", "year>=2019", "--lexical"], capsys)
    assert hit["id"] == "d0"
    assert hit["text"] == f"T0 {TEXTS[0]}"
    assert hit["fields"] == FIELDS[0]
    rows[0]["year"] = 1999  # a field alone
    lines[0] = json.dumps(rows[0], ensure_ascii=False)
    Path("d.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert counts(answer(["index", "d.jsonl", *BAG, *options], capsys)) == (0, 1, 0, 7, 0)
    kept = [*options, "--keep", "lang"]
    assert answer(["index", "d.jsonl", *BAG, *kept], capsys)["changed"] == 7
    assert answer(["search", "I", "bank", "-k", "1"], capsys)[0]["fields"].keys() == {"lang"}


def test_tables_folders_whole_files_and_standard_input(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("f/sub").mkdir(parents=True)
    Path("f/a.txt").write_text("one\n\ntwo\n", encoding="utf-8")
    Path("f/sub/b.txt").write_text("three\n", encoding="utf-8")
    assert answer(["index", "f", *BAG], capsys)["texts"] == 3
    hits = answer(["search", "I", "three", "-k", "3"], capsys)
    assert hits[0]["id"] == "sub/b.txt:1"
    assert {hit["id"] for hit in hits} == {"a.txt:1", "a.txt:3", "sub/b.txt:1"}
    assert answer(["index", "f", *BAG, "--whole-files"], capsys)["texts"] == 2
    Path("t.csv").write_text('text,lang\n"two\nlines",en\n한국,ko\n', encoding="utf-8")
    assert answer(["index", "t.csv", *BAG, "--field", "text"], capsys)["texts"] == 2
    (hit,) = answer(["search", "I", "x", "--filter", "lang=ko"], capsys)
    assert (hit["id"], hit["text"]) == ("t.csv:4", "한국")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO("한\n국\n".encode())))
    assert answer(["index", "-", *BAG], capsys)["texts"] == 2
    assert answer(["search", "I", "국", "-k", "1"], capsys)[0]["id"] == "stdin:2"


def test_hits_fit_the_screen(capsys: Output) -> None:
    long = ["서울 " * 100, "x" * 300, "short", "a word " * 40]
    Path("t.txt").write_text("\n".join(long), encoding="utf-8")
    answer(["index", "t.txt", *BAG], capsys)
    assert run(["search", "I", "short"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["1.0000", "t.txt:3"]
    assert lines[1].strip() == "short"
    assert max(map(cell_len, lines)) <= 80
    assert sum(line.endswith("…") for line in lines) == 3


def test_what_is_left_out_is_said(capsys: Output) -> None:
    Path("t.txt").write_text(unicodedata.normalize("NFD", "한국") + "\n \n\nx\n", encoding="utf-8")
    assert run(["index", "t.txt", *BAG]) == 0
    told = capsys.readouterr().err
    assert "t.txt: 2 texts are empty and were skipped" in told
    assert "t.txt: 1 texts were not in NFC" in told
    assert run(["search", "I", "없는 말", "--lexical"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "nothing found\n"
    assert "no text contains any word of '없는 말'" in shown.err


def test_inspect_tells_what_is_in_an_index(capsys: Output) -> None:
    Path("t.csv").write_text("text,lang\none,en\n한국,ko\n", encoding="utf-8")
    answer(["index", "t.csv", *BAG, "--field", "text"], capsys)
    found = answer(["inspect", "I"], capsys)
    assert (found["texts"], found["dim"], found["model"]) == (2, 16, "bag")
    assert (found["fields"], found["search"]) == (["lang"], "exact")
    assert run(["inspect", "I"]) == 0
    assert "model       bag\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["index", "nowhere.txt", *BAG], "nowhere.txt does not exist"),
        (["index", "empty.txt", *BAG], "empty.txt is empty"),
        (["index", "blank.txt", *BAG], "blank.txt holds no text"),
        (["index", "t.jsonl", *BAG], "name the one that holds the text"),
        (["index", "t.jsonl", *BAG, "--field", "no"], "t.jsonl:1: there is no field 'no'"),
        (["index", "t.jsonl", *BAG, "--field", "a", "--id", "b"], "the id '1' occurs twice"),
        (
            ["index", "t.jsonl", *BAG, "--field", "a", "--id", "c"],
            "the field 'c' for the id is missing",
        ),
        (["index", "t.csv", *BAG, "--field", "no"], "t.csv has no column 'no'"),
        (["index", "t.txt", "--model", "bag", "--out", "t.txt"], "t.txt is a file: an index"),
        (["index", "t.txt", "--model", "bag", "--out", "no/I"], "no/I cannot be created"),
        (["index", "t.txt", "--model", "other", "--out", "I"], "'other' is not the model of"),
        (["search", "I", " "], "the query is empty"),
        (["search", "I", "x", "-k", "0"], "k must be at least 1; got 0"),
        (["search", "I", "x", "--filter", "no=1"], "no text has the field 'no'"),
        (["search", "I", "x", "--filter", "no"], "'no' is not a filter"),
        (["search", "I", "x", "--model", "other"], "'other' is not the model of this index"),
        (["search", ".", "x"], "is not an index: it has no manifest.json"),
        (["search", "nowhere", "x"], "nowhere does not exist"),
    ],
)
def test_what_goes_wrong_is_one_sentence(words: list[str], said: str, capsys: Output) -> None:
    Path("t.txt").write_text("text\n", encoding="utf-8")
    Path("empty.txt").write_bytes(b"")
    Path("blank.txt").write_text(" \n\n", encoding="utf-8")
    Path("t.jsonl").write_text('{"a": "x", "b": 1}\n{"a": "y", "b": 1}\n', encoding="utf-8")
    Path("t.csv").write_text("a,b\nx,1\n", encoding="utf-8")
    assert run(["index", "t.txt", *BAG]) == 0
    capsys.readouterr()
    assert run(words) == 1
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert answer(["search", "I", "text"], capsys)[0]["id"] == "t.txt:1"


def test_an_interrupted_update_keeps_what_was_embedded(
    seen: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.setattr("malmoi.search.writer.BATCH_TEXTS", 2)
    Path("t.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    encode = BagOfWords.encode

    def interrupted(self: BagOfWords, texts: Any, **options: Any) -> Any:
        if len(seen) > 4:
            raise KeyboardInterrupt
        return encode(self, texts, **options)

    with monkeypatch.context() as patch:
        patch.setattr(BagOfWords, "encode", interrupted)
        assert run(["index", "t.txt", *BAG]) == 130
    assert counts(answer(["index", "t.txt", *BAG], capsys)) == (4, 0, 0, 4, 4)


def test_parquet(capsys: Output) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    parquet.write_table(pa.table({"text": ["one", None, "two"], "year": [1, 2, 3]}), "t.parquet")
    assert answer(["index", "t.parquet", *BAG, "--field", "text"], capsys)["texts"] == 2
    (hit,) = answer(["search", "I", "x", "--filter", "year>1"], capsys)
    assert (hit["text"], hit["fields"]) == ("two", {"year": 3})


def test_bad_json_is_named_by_its_line(capsys: Output) -> None:
    Path("t.jsonl").write_text('{"a": "x"}\n{oops\n', encoding="utf-8")
    assert run(["index", "t.jsonl", *BAG, "--field", "a"]) == 1
    assert "t.jsonl:2: this is not JSON" in capsys.readouterr().err
    assert not Path("I").exists()
