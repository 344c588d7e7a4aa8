import json
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

from malmoi.cli import run
from malmoi.encode.bulk.embed import EmbedSettings
from malmoi.encode.bulk.write_file import write_embeddings
from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.pooling.recipes import Recipe
from malmoi.errors import InvalidArgumentError
from tests.test_house import modules_after

Output = pytest.CaptureFixture[str]
MINILM = ["--model", "minilm"]
TEXTS = ["the river bank", "한국어", "robbers, robbers"]
pytestmark = pytest.mark.filterwarnings("ignore:.*unknown tokens")  # Korean for English models


@pytest.fixture
def texts(tmp_path: Path) -> str:
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    return str(path)


def test_vectors_as_json(minilm: TransformerEncoder, capsys: Output) -> None:
    assert run(["embed", *TEXTS, *MINILM, "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert [record["text"] for record in records] == TEXTS
    found = np.array([record["vector"] for record in records], np.float32)
    np.testing.assert_allclose(found, minilm.encode(TEXTS), atol=1e-6)


@pytest.mark.parametrize(
    ("text", "model"), [("hello", "minilm"), ("환불을 받고 싶어요", "use"), ("refund 환불", "use")]
)
def test_where_no_model_is_named_the_text_chooses_it(text: str, model: str, capsys: Output) -> None:
    assert run(["embed", text]) == 0
    chosen = capsys.readouterr()
    assert f"no --model given: using {model}" in chosen.err
    assert chosen.err.count("\n") == 1
    assert run(["embed", text, "--model", model]) == 0
    named = capsys.readouterr()
    assert chosen.out == named.out
    assert named.err == ""


def test_a_file_chooses_its_model_too(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "ko.txt").write_text("hello\n환불을 받고 싶어요\n", encoding="utf-8")
    out = tmp_path / "ko.npy"
    assert run(["embed", "--file", str(tmp_path / "ko.txt"), "--out", str(out)]) == 0
    assert "using use" in capsys.readouterr().err
    assert np.load(out).shape == (2, 512)


def test_where_options_need_layers_a_model_without_them_is_not_chosen(capsys: Output) -> None:
    assert run(["embed", "환불을 받고 싶어요", "--layers", "-2"]) == 0
    errors = capsys.readouterr().err
    assert "using minilm" in errors
    assert "choose a transformer that was trained on their language" in errors


@pytest.mark.parametrize("out", [[], ["--out", "x.npy"]])
def test_korean_for_an_english_model_is_warned_of(
    out: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["embed", "환불을 받고 싶어요", "the bank", *MINILM, *out]) == 0
    errors = capsys.readouterr().err
    assert "1 of 2 texts are mostly words that the model knows only as single letters" in errors
    assert "(60% of all words)" in errors
    assert "for Korean choose the model use" in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "dim"),
    [
        (["--layers", "-4:", "--layer-pooling", "sum", "--pool", "max"], 384),
        (
            ["--layers", "-2:", "--layer-pooling", "weighted", "--weights", "-1", "--weights", "2"],
            384,
        ),
        (["--recipe", "last-four-concat"], 4 * 384),
        (["--recipe", "bert-as-service", "--skip-special"], 384),
    ],
)
def test_layers_mixes_and_recipes(options: list[str], dim: int, capsys: Output) -> None:
    assert run(["embed", "the bank", *MINILM, *options, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)[0]["vector"]) == dim


def test_words_and_tokens_with_their_offsets(capsys: Output) -> None:
    assert run(["embed", "Antidisestablishment!", *MINILM, "--per", "word", "--json"]) == 0
    words = json.loads(capsys.readouterr().out)[0]["words"]
    assert [(w["word"], w["begin"], w["end"]) for w in words] == [
        ("Antidisestablishment", 0, 20),
        ("!", 20, 21),
    ]
    assert run(["embed", "Antidisestablishment!", *MINILM, "--pool", "none", "--json"]) == 0
    tokens = [t["token"] for t in json.loads(capsys.readouterr().out)[0]["tokens"]]
    assert tokens[:3] == ["[CLS]", "anti", "##dis"]
    assert run(["embed", "a!", *MINILM, "--per", "token", "--skip-special"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["a!", "a", "!"]


def test_each_layer_has_its_weight(minilm: TransformerEncoder, capsys: Output) -> None:
    layers = ["--layers", "-2:", "--layer-pooling", "weighted", "--weights", "1", "-2", "--json"]
    assert run(["embed", TEXTS[0], *MINILM, *layers]) == 0
    (record,) = json.loads(capsys.readouterr().out)
    recipe = Recipe(layers="-2:", layer_pooling="weighted", weights=(1, -2))
    expected = minilm.encode(TEXTS[:1], recipe=recipe)[0]
    np.testing.assert_allclose(record["vector"], expected, atol=1e-5)


def test_words_fit_into_80_columns_whatever_their_script(capsys: Output) -> None:
    text = "한국어를 unbelievably-incomprehensibilities"
    assert run(["embed", text, *MINILM, "--per", "word", "--recipe", "last-four-concat"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert all(cell_len(line) <= 80 for line in lines)
    assert len({cell_len(line) for line in lines}) == 1


def test_a_long_text_is_shown_on_one_line_of_80_columns(capsys: Output) -> None:
    assert run(["embed", "한국어 문장이 " * 20 + "\nA second line"]) == 0
    text, _ = capsys.readouterr().out.splitlines()
    assert text.endswith("…")
    assert cell_len(text) <= 80


def test_a_file_to_a_matrix(
    minilm: TransformerEncoder, texts: str, tmp_path: Path, capsys: Output
) -> None:
    out = tmp_path / "vectors.npy"
    assert run(["embed", "--file", texts, *MINILM, "--out", str(out), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report == {
        "written": str(out), "texts": 3, "rows": 3, "dim": 384, "repeated": 0, "undecoded": 0,
        "truncated": [], "empty": [], "unknown": [], "fragmented": [2],
    }  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == ["texts.txt", "vectors.npy"]
    np.testing.assert_allclose(np.load(out), minilm.encode(TEXTS), atol=1e-6)


def test_a_file_to_lines(texts: str, tmp_path: Path, capsys: Output) -> None:
    out = tmp_path / "vectors.jsonl"
    assert run(["embed", "--file", texts, *MINILM, "--out", str(out), "--per", "word"]) == 0
    assert capsys.readouterr().out == f"{out}: 3 × 384\n"
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [word["word"] for word in records[0]["words"]] == ["the", "river", "bank"]


def test_no_texts_make_a_matrix_without_rows(minilm: TransformerEncoder, tmp_path: Path) -> None:
    write_embeddings(minilm, [], tmp_path / "none.npy", EmbedSettings())
    assert np.load(tmp_path / "none.npy").shape == (0, 384)
    concatenated = EmbedSettings(recipe=Recipe(layers="-4:", layer_pooling="concat"))
    write_embeddings(minilm, [], tmp_path / "wide.npy", concatenated)
    assert np.load(tmp_path / "wide.npy").shape == (0, 4 * 384)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["hello", "--model", "nobody"], 1, "there is no model 'nobody'"),
        ([*MINILM], 1, "give texts to embed, or a --file of them"),
        (["hello", *MINILM, "--layers", "9"], 1, "there is no layer 9: there are 7"),
        (["hello", *MINILM, "--layers", "-4:"], 1, "needs one layer, not 4"),
        (["hello", *MINILM, "--layer-pooling", "stir"], 2, "stir"),
        (["hello", *MINILM, "--recipe", "soup"], 1, "recipe must be one of bert-as-service"),
        (["hello", *MINILM, "--prompt", "query"], 1, "has no prompt 'query'"),
        (["hello", *MINILM, "--prompt", "q", "--per", "word"], 1, "prompt needs per='text'"),
        (["hello", *MINILM, "--out", "x.txt"], 1, "x.txt must end in one of .npy"),
        (["hello", *MINILM, "--out", "x.npy", "--per", "word"], 1, "has one row per text"),
        (["hello", *MINILM, "--out", "nowhere/x.npy"], 1, "there is no folder nowhere"),
        (["hello", *MINILM, "--skip-special", "--pool", "cls"], 1, "pool='cls' is a special token"),
        (["hello", *MINILM, "--per", "word", "--pool", "max"], 1, "makes a vector per text"),
        (
            ["hello", *MINILM, "--per", "word", "--pool", "none"],
            1,
            "words are pooled by --word-pooling",
        ),
        (["hello", *MINILM, "--word-pooling", "first"], 1, "needs --per word"),
        (["hello", *MINILM, "--weights", "1", "2"], 1, "need layer_pooling='weighted'"),
    ],
)
def test_what_goes_wrong_is_one_sentence(
    words: list[str], code: int, message: str, capsys: Output
) -> None:
    assert run(["embed", *words]) == code
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--file", "missing.txt", "--out", "x.npy"], "missing.txt does not exist"),
        (["--file", "empty.txt", "--out", "x.npy"], "empty.txt is empty"),
        (
            ["--file", "bad.jsonl", "--field", "t", "--out", "x.npy"],
            "bad.jsonl:2: this is not JSON",
        ),
        (["--file", "t.jsonl", "--field", "t", "--out", "t.jsonl"], "is the input text"),
        (["--file", ".", "--out", "x.npy"], "is in the folder of the input"),
        (["--file", "t.txt", "--out", "x.vectors"], "x.vectors must end in one of .npy"),
        (["--file", "t.txt", "--out", "folder.npy"], "folder.npy is a folder"),
        (["--file", "t.txt", "--resume"], "--resume needs --out"),
        (["--file", "t.txt", "--out", "x.npy", "--resume"], "x.npy.checkpoint to resume from"),
        (
            ["--file", "t.txt", "--out", "x.npy", "--overlap", "9"],
            "overlap=9 needs overflow='windows'",
        ),
        (["--file", "t.txt", "--encoding", "klingon"], "unknown encoding 'klingon'"),
    ],
)
def test_bad_files_are_one_sentence_and_leave_nothing(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Output,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.txt").write_text("a text\n")
    Path("empty.txt").touch()
    Path("t.jsonl").write_text('{"t": "a"}\n')
    Path("bad.jsonl").write_text('{"t": "a"}\n{nope\n')
    Path("folder.npy").mkdir()
    before = sorted(tmp_path.iterdir())
    assert run(["embed", *words, *MINILM]) == 1
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_texts_to_a_file_right_here(
    minilm: TransformerEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["embed", *TEXTS, *MINILM, "--out", "x.npy"]) == 0
    np.testing.assert_allclose(np.load("x.npy"), minilm.encode(TEXTS), atol=1e-6)


def test_warnings_are_listed(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "t.txt").write_text("a\n\n💩\n" + "long " * 300 + "\n \n")
    words = ["embed", "--file", str(tmp_path / "t.txt"), *MINILM, "--out", str(tmp_path / "x.npy")]
    assert run(words) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "note: 1 of 5 texts are longer than 256 tokens and were truncated (number 4)",
        "note: 2 of 5 texts are empty: their vectors are meaningless (number 2, 5)",
        "note: 1 of 5 texts are made of unknown tokens only: their vectors mean little (number 3)",
    ]
    assert run([*words, "--json", "--overflow", "windows"]) == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert (report["truncated"], report["empty"], report["unknown"]) == ([], [2, 5], [3])
    assert report["fragmented"] == []


def test_invalid_settings() -> None:
    with pytest.raises(
        InvalidArgumentError, match="per must be one of text, word, token; got 'letter'"
    ):
        EmbedSettings(per="letter")  # type: ignore[arg-type]


def test_a_text_is_embedded_without_numba_torch_or_onnx() -> None:
    code = "from malmoi.cli import run\nrun(['embed', 'hello', '--model', 'minilm'])"
    assert not {"numba", "torch", "onnx", "transformers"} & modules_after(code)
