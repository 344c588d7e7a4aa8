import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.errors import InvalidArgumentError, InvalidFileError, MalmoiError, MalmoiWarning
from malmoi.evaluate.sets.sentence_sets import SentenceSet, read_sentences
from tests.evaluate.sentence_files import CSV, PAIRS, real

TABS = "\n".join(f"{score}\t{one}\t{other}" for one, other, score in PAIRS) + "\n"
KORSTS = "genre\tfilename\tyear\tid\tscore\tsentence1\tsentence2\n" + "".join(
    f"a\tb\t2012\t{i}\t{score}\t{one}\t{other}\n" for i, (one, other, score) in enumerate(PAIRS)
)
SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n" + "".join(
    f"{i}\t{one}\t{other}\t{score}\tNEUTRAL\n" for i, (one, other, score) in enumerate(PAIRS)
)
JSON = "".join(
    json.dumps({"id": 1, "sentence1": one, "sentence2": other, "score": score}) + "\n"
    for one, other, score in PAIRS
)


def write(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "content",
    [CSV, "first,second,people\n" + CSV, TABS, TABS.replace("\n", "\r\n"), KORSTS, SICK, JSON],
    ids=["csv", "header", "tabs, score first", "windows", "korsts", "sick", "json"],
)
def test_the_forms_that_people_use(tmp_path: Path, content: str) -> None:
    found = read_sentences(write(tmp_path, "pairs.x", content))
    assert found.name == "pairs"
    assert [tuple(pair) for pair in found.pairs] == PAIRS


@pytest.mark.parametrize("columns", [["6", "7", "5"], ["erst", "zweit", "wert"]])
def test_columns_that_are_told(tmp_path: Path, columns: list[str]) -> None:
    rows = "".join(f"a\tb\tc\td\t{score}\t{one}\t{other}\n" for one, other, score in PAIRS)
    header = "a\tb\tc\td\twert\terst\tzweit\n" if columns[0] == "erst" else ""
    found = read_sentences(write(tmp_path, "pairs.tsv", header + rows), columns)
    assert [tuple(pair) for pair in found.pairs] == PAIRS


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(str.strip)


@given(st.lists(st.tuples(texts, texts, st.floats(-5, 5)), min_size=1, max_size=5))
def test_whatever_json_holds_comes_back(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str, float]]
) -> None:
    uniform = [(*(unicodedata.normalize("NFC", t).strip() for t in p[:2]), p[2]) for p in pairs]
    lines = [json.dumps({"text1": a, "text2": b, "score": s}) for a, b, s in uniform]
    path = write(tmp_path_factory.mktemp("json"), "pairs.jsonl", "\n".join(lines))
    assert [tuple(pair) for pair in read_sentences(path).pairs] == uniform


def test_hangul_in_letters_is_put_together(tmp_path: Path) -> None:
    line = unicodedata.normalize("NFD", "아이가 말을 탄다\t말을 타는 아이\t4.5\n")
    with pytest.warns(MalmoiWarning, match="not in NFC"):
        found = read_sentences(write(tmp_path, "ko.tsv", line))
    assert found.pairs == (("아이가 말을 탄다", "말을 타는 아이", 4.5),)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "a b,c d,5\na b,c d,much\na b,c d,1\n",
            r"pairs.csv:2: expected two texts and a number; got 'a b, c d, much'",
        ),
        ("a b,c d,5\na b,c d\n", r"pairs.csv:2: expected two texts and a number; got 'a b, c d'"),
        (
            "a b,c d,5\na b, no, c d,5\n",
            r"pairs.csv:2: expected two texts and a number; got 'a b,  no,  c d, 5'",
        ),
        ("a b,c d,5\n,c d,5\n", r"pairs.csv:2: expected two texts and a number; got ', c d, 5'"),
        ("a b,c d,nan\na b,c d,inf\n", "has no column of numbers"),
        (
            "a b,c d,nan\na b,c d,1\ne f,g h,2\n",
            r"pairs.csv:1: expected two texts and a number; got 'a b, c d, nan'",
        ),
        (
            "just a text\nand another\n",
            r"pairs.csv:1: expected two texts and a number in columns; got",
        ),
        ("one\ttwo\n", r"pairs.csv:1: expected two texts and a number in columns; got 'one,two'"),
        ("\n  \n", "is empty: expected"),
        ("sentence1,sentence2,score\n", "has a header and no pairs"),
        ("a,b,c,d\n1,2,3,4\n", r"are ambiguous: name them, .* it has a, b, c, d"),
        (
            '{"text1": "a", "text2": "b", "score": 1}\n{"text1": 3}\n',
            r"pairs.csv:2: expected two texts and a number; got '3, None",
        ),
        (
            '{"text1": "a", "text2": null, "score": 1}\n',
            r"pairs.csv:1: expected two texts and a number; got 'a, None, 1'",
        ),
        ('{"text1": "a", \n', r"pairs.csv:1: invalid JSON"),
        (
            '{"text1": "a", "text2": "b", "score": 1}\n[1]\n',
            r"pairs.csv:2: '\[1\]' is not a JSON object",
        ),
        ('a b,"c d,5\n', "pairs.csv:1: invalid CSV"),
    ],
)
def test_what_is_malformed_is_named(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(MalmoiError, match=said):
        read_sentences(write(tmp_path, "pairs.csv", content))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (["one", "two"], "columns must be three"),
        (["one", "two", "score"], "has no column 'one': its columns are genre, filename"),
        (["6", "7", "9"], "has no column '6'"),
    ],
)
def test_columns_that_are_not_there(tmp_path: Path, columns: list[str], said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        read_sentences(write(tmp_path, "korsts.tsv", KORSTS), columns)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="does not exist"):
        read_sentences(tmp_path / "none.csv")
    with pytest.raises(InvalidFileError, match="is empty"):
        read_sentences(write(tmp_path, "empty.csv", ""))
    with pytest.raises(InvalidArgumentError, match="made up has no pairs"):
        SentenceSet("made up", ())


@pytest.mark.filterwarnings("ignore:.*NFC")
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("stsb_en/stsb-en-dev.csv", 1500),
        ("stsb_en/stsb-en-train.csv", 5749),
        ("korsts/sts-dev.tsv", 1500),
        ("korsts/sts-train.tsv", 5749),
        ("sick/SICK_trial.txt", 500),
        ("sick/SICK_train.txt", 4500),
    ],
)
def test_the_public_sets_are_read_whole(name: str, count: int) -> None:
    found = read_sentences(real(name))
    assert len(found.pairs) == count
    assert all(0 <= pair.score <= 5 for pair in found.pairs)
