"""Labelled texts from tables, folders and fastText's format, and what is found in them."""

import json
from pathlib import Path

import pytest

import malmoi as mm
from malmoi.tune.data.label_checks import report_problems
from malmoi.tune.data.labelled_set import LabelledSet, label_names, read_labelled_set
from tests.classify.worlds import labelled
from tests.recording_reporter import RecordingReporter

ROWS = labelled(30, 2)


def read(source: object, **settings: object) -> tuple[LabelledSet, list[str]]:
    reporter = RecordingReporter()
    return read_labelled_set(source, reporter=reporter, **settings), reporter.warnings  # type: ignore[arg-type]


def pairs(data: LabelledSet) -> list[tuple[str, str]]:
    names = (data.names[i] for i in data.labels.items)
    return list(zip(data.texts, names, strict=True))


def test_columns_are_detected_and_ids_are_not_used(tmp_path: Path) -> None:
    path = tmp_path / "reviews.tsv"
    lines = [f"{1000 + 7 * i}\t{text}\t{label}" for i, (text, label) in enumerate(ROWS)]
    path.write_text("\n".join(["id\tdocument\tlabel", *lines]), encoding="utf-8")
    data, warnings = read(path)
    assert pairs(data) == ROWS
    assert len(data.ids) == 30
    assert "text in column document, label in column label; id holds ids" in warnings[0]


@pytest.mark.parametrize("header", ["", "a,b,\n"])
def test_a_header_is_found_by_its_values(tmp_path: Path, header: str) -> None:
    path = tmp_path / "spam.csv"
    path.write_text(header + "\n".join(f"{b},{a}," for a, b in ROWS), encoding="utf-8")
    assert pairs(read(path)[0]) == ROWS


def test_columns_can_be_named_or_numbered(tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    rows = ({"title": "x", "words": text, "kind": label} for text, label in ROWS)
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for columns in (("words", "kind"), ("2", "3")):
        assert pairs(read(path, columns=columns)[0]) == ROWS
    with pytest.raises(mm.InvalidArgumentError, match="no column 'topic': its columns are title"):
        read(path, columns=("words", "topic"))
    with pytest.raises(mm.InvalidArgumentError, match="name the column of the text and then"):
        read(path, columns=("words",))


def test_folders_of_texts(tmp_path: Path) -> None:
    for i, (text, label) in enumerate(ROWS):
        (tmp_path / label).mkdir(exist_ok=True)
        (tmp_path / label / f"{i:02}.txt").write_text(text, encoding="utf-8")
    assert sorted(pairs(read(tmp_path)[0])) == sorted(ROWS)
    with pytest.raises(mm.InvalidFileError, match="has no folders of text files"):
        read(tmp_path / "food")


def test_lines_of_fasttext_have_any_number_of_labels(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("__label__a __label__b one two\n__label__a three\n\n__label__b\n", "utf-8")
    data, warnings = read(path)
    assert (data.texts, data.names, data.multi_label) == (("one two", "three"), ("a", "b"), True)
    assert data.labels.items.tolist() == [0, 1, 0]
    assert warnings == [f"{path}: 1 row skipped: no text (line 4)"]


def test_labels_of_one_field_are_separated() -> None:
    assert label_names("a| b|", "|") == ["a", "b"]
    assert label_names(["x", 1.0, None]) == ["x", "1"]
    assert label_names(float("nan")) == label_names("nan") == label_names("  ") == []
    rows = [("one two three", "a,b"), ("four five six", "a"), ("seven eight nine", "b")]
    data, _ = read(rows, label_separator=",", columns=("1", "2"))
    assert data.multi_label


def test_numbers_are_in_order() -> None:
    data, _ = read([(text, str(i % 12)) for i, (text, _) in enumerate(labelled(48))])
    assert data.names == tuple(map(str, range(12)))


def test_problems_are_reported() -> None:
    data, _ = read([("same text", "x"), ("same text", "y")] + [(f"t {i}", "x") for i in range(60)])
    reporter = RecordingReporter()
    report_problems(data, reporter)
    assert "1 texts occur with different labels" in reporter.warnings[0]
    assert "61 texts have the label x and 1 the label y" in reporter.warnings[1]


def test_ids_in_blocks_are_reported() -> None:
    rows = [{"id": 100 + i, "text": text, "label": label} for i, (text, label) in
            enumerate(sorted(labelled(90), key=lambda row: row[1]))]  # fmt: skip
    reporter = RecordingReporter()
    report_problems(read(rows)[0], reporter)
    assert "labels in blocks" in reporter.warnings[-1]
    shuffled = RecordingReporter()
    report_problems(read([row | {"id": hash(row["text"]) % 10**6} for row in rows])[0], shuffled)
    assert shuffled.warnings == []
