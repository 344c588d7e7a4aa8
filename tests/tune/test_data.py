"""Examples from files, tables and lists: what they are, and which rows cannot be used."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.evaluate.sets.sentence_sets import SentenceSet
from malmoi.tune.data.examples import read_examples
from tests.recording_reporter import RecordingReporter

NLI = [(f"one {i}", f"two {i}", ["neutral", "entailment"][i % 2]) for i in range(4)]
STS = [("a man eats", "a man is eating", 5.0), ("a dog", "a cat", 1.5), ("rain", "sun", 0.0)]


def read(source: Any, *arguments: Any, **options: Any) -> tuple[Any, list[str]]:
    reporter = RecordingReporter()
    examples = read_examples(source, *arguments, reporter=reporter, **options)
    return examples, reporter.warnings


@pytest.mark.parametrize(
    ("rows", "kind", "objective"),
    [
        (STS, "scored pairs", "cosine"),
        ([("a b", "c d", 1), ("e f", "g h", 0)], "labelled pairs", "contrastive"),
        (NLI, "classified pairs", "softmax"),
        ([("a", "b", 0), ("c", "d", 1), ("e", "f", 2)], "classified pairs", "softmax"),
        ([("a b", "c d"), ("e f", "g h")], "pairs", "multiple_negatives"),
        ([("a b", "c d", "e f"), ("g", "h", "i")], "triplets", "multiple_negatives"),
        ([("a b", "c d", "e f", 0.3), ("g", "h", "i", -0.7)], "scored triplets", "margin_mse"),
        ([("a b",), ("c d",)], "texts", "mse"),
    ],
)
def test_kind_and_objective_are_detected_and_reported(
    rows: list[Any], kind: str, objective: str
) -> None:
    examples, warnings = read(rows)
    assert (examples.kind, examples.objective, len(examples)) == (kind, objective, len(rows))
    assert any(examples.title in warning for warning in warnings)


def test_scores_are_scaled_for_cosines_and_reported() -> None:
    examples, warnings = read(STS, "cosine")
    np.testing.assert_allclose(examples.labels, [1, 0.3, 0])
    assert warnings == ["the list: scores are divided by 5, to be compared with cosines"]
    assert read(STS, "cosent")[0].labels.max() == 5
    cosines, warnings = read([("a", "b", -0.5), ("c", "d", 0.25)], "cosine")
    assert cosines.labels.tolist() == [-0.5, 0.25]
    assert warnings == []


CSV = 'sentence1,sentence2,score\n"one, two",three,0.5\nfour,five,0.25\n'
TSV = 'id\tscore\tsentence1\tsentence2\n1\t0.5\tone, two\tthree\n2\t0.25\t"four\tfive\n'
JSONL = '{"sentence1": "one, two", "sentence2": "three", "score": 0.5}\n\n'


@pytest.mark.parametrize("content", [CSV, TSV, JSONL], ids=["csv", "tsv", "jsonl"])
def test_files_are_read(content: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text(content)
    examples, _ = read(path)
    assert examples.name == "pairs"
    assert examples.texts[0] == ("one, two", "three")
    assert examples.labels[0] == 0.5


def test_a_table_without_header_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("one,two,0.5\nthree,four,0.25\n")
    examples, warnings = read(path)
    assert len(examples) == 2
    assert warnings == [
        f"{path}: two texts and a number: cosine regression (columns 1, 2, 3)",
    ]


def test_parquet_and_tables_are_read(tmp_path: Path) -> None:
    table = pandas.DataFrame({"query": ["a", "b"], "answer": ["c", "d"], "negative": ["e", "f"]})
    table.to_parquet(tmp_path / "x.parquet")
    for source in (table, tmp_path / "x.parquet"):
        examples, warnings = read(source)
        assert examples.texts == (("a", "c", "e"), ("b", "d", "f"))
        assert "(columns query, answer, negative)" in warnings[0]


def test_several_negatives_per_row_are_read(tmp_path: Path) -> None:
    names = ["query", "answer", *(f"negative_{i}" for i in range(1, 6))]
    table = pandas.DataFrame([[f"{name} {i}" for name in names] for i in range(3)], columns=names)
    path = tmp_path / "mined.jsonl"
    table.to_json(path, orient="records", lines=True)
    for source, columns in ((table, ()), (path, ()), (path, tuple(names))):
        examples, _ = read(source, columns=columns)
        assert (examples.kind, examples.objective) == ("tuples", "multiple_negatives")
        assert examples.texts[1] == tuple(f"{name} 1" for name in names)
    with pytest.raises(InvalidArgumentError, match="7 texts and a label"):
        read(table.assign(score=[0.1, 0.2, 0.3]))
    with pytest.raises(InvalidArgumentError, match="are ambiguous"):
        read([tuple(row) for row in table.itertuples(index=False)])


def test_cp949_is_read_and_other_encodings_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes("한국어 문장,다른 문장,0.5\n은행,강,0.1\n".encode("cp949"))
    examples, warnings = read(path, "cosine")
    assert examples.texts[0] == ("한국어 문장", "다른 문장")
    assert warnings == [f"{path} is not UTF-8 and was read as CP949"]
    french = "café,bar,0.5\nbank,river,0.1\n".encode("latin-1")
    path.write_bytes(french)
    examples, warnings = read(path, "cosine")
    assert examples.texts[0] == ("café", "bar")
    assert warnings == [f"{path} is not UTF-8 and was read as Windows-1252"]
    path.write_bytes(french + "한국어,문장,0.3\n".encode())
    _, warnings = read(path, "cosine")
    assert warnings == [f"{path} is not UTF-8: characters in 1 lines cannot be read"]


def test_valid_utf8_may_contain_the_replacement_character(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("한국어 \ufffd문장,다른 문장,0.5\n은행,강,0.1\n", encoding="utf-8")
    examples, warnings = read(path, "cosine")
    assert examples.texts[0] == ("한국어 \ufffd문장", "다른 문장")
    assert warnings == []
    path.write_bytes(path.read_bytes() + "끝,".encode() + b"\xff\xfe,0.3\n")
    examples, warnings = read(path, "cosine")
    assert examples.texts[2] == ("끝", "\ufffd")
    assert warnings == [f"{path} is not UTF-8: characters in 1 lines cannot be read"]


def test_a_sentence_set_is_read() -> None:
    pairs = SentenceSet.of(["a"], ["b"], [0.5])
    assert read(pairs)[0].texts == (("a", "b"),)


def test_bad_rows_are_counted_with_their_lines(tmp_path: Path) -> None:
    good = json.dumps({"sentence1": "a", "sentence2": "b", "score": 0.5})
    bad = ['{"sentence1": "a"', '{"sentence1": "a", "score": 0.1}', "[1]"]
    nameless = json.dumps({"sentence1": "a", "sentence2": "b", "score": "many"})
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join([good, *bad, nameless, good, good]))
    examples, warnings = read(path, "cosine")
    assert len(examples) == 3
    assert warnings == [
        f"{path}: 2 rows skipped: not a JSON object (lines 2, 4)",
        f"{path}: 1 row skipped: no text (line 3)",
        f"{path}: 1 row skipped: no label (line 5)",
    ]


def test_short_rows_and_numbers_instead_of_texts_are_skipped() -> None:
    examples, warnings = read([*STS, ("alone",), (3, "b", 0.5), (None, "b", 0.5)], "cosent")
    assert len(examples) == 3
    assert warnings == ["the list: 3 rows skipped: no text (lines 4, 5, 6)"]


def test_pairs_without_a_majority_are_no_class() -> None:
    labels = ["neutral", "-", "entailment"]
    rows = [(f"one {i}", f"two {i}", labels[i % 3]) for i in range(6)]
    examples, warnings = read(rows, "softmax")
    assert examples.classes == ("entailment", "neutral")
    assert warnings == ["the list: 2 rows skipped: no label (lines 2, 5)"]


def test_texts_with_classes_become_pairs() -> None:
    rows = [(f"text {i}", "odd" if i % 2 else "even") for i in range(20)] + [("last", "none")]
    examples, warnings = read(rows, "contrastive")
    class_of = dict(rows)
    assert len(examples) == 40
    assert "1 texts are the only one of their class" in warnings[0]
    for (one, other), label in zip(examples.texts, examples.labels, strict=True):
        assert one != other
        assert (class_of[one] == class_of[other]) == bool(label)


def test_named_columns_are_used() -> None:
    table = pandas.DataFrame({"x": ["a", "b"], "y": ["c", "d"], "z": ["e", "f"], "n": [0.5, 1]})
    examples, _ = read(table, columns=["z", "x", "n"])
    assert examples.texts == (("e", "a"), ("f", "b"))
    assert read(table, columns=["x", "y"])[0].kind == "pairs"


def test_a_named_column_is_used_as_its_name_says() -> None:
    """Few different values make a column a label only if no name says otherwise."""
    rows = [(f"question {i}", ("yes", "no")[i % 2]) for i in range(10)]
    for names, options, kind in (
        (("query", "answer"), {}, "pairs"),
        (("query", "reply"), {"objective": "multiple_negatives"}, "pairs"),
        (("query", "label"), {}, "labelled pairs"),  # made of texts with classes
        (("query", "reply"), {}, "labelled pairs"),
    ):
        table = pandas.DataFrame(rows, columns=names)
        assert read(table, columns=names, **options)[0].kind == kind, (names, options)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (STS, {"columns": ["nothing"]}, "no column 'nothing': its columns are 1, 2, 3"),
        (STS, {"objective": "triplet"}, "choose cosine or cosent"),
        ([("a", 1, 2), ("b", 3, 4)], {}, "ambiguous"),
        ([("a", "b", 7.0), ("c", "d", -3.0)], {}, "scores from -3 to 7"),
        (["a", "b"], {}, "example number 1 is 'a'"),
        ([], {}, "has no rows"),
        ([("", "b", 0.5)], {}, "no usable rows"),
    ],
)
def test_what_cannot_be_used_is_refused(source: Any, options: Any, message: str) -> None:
    with pytest.raises((InvalidArgumentError, InvalidFileError), match=message):
        read(source, **options)
