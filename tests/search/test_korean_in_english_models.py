"""Korean texts for an English model: an index, a search and an evaluation say so, once each."""

from pathlib import Path

import pytest

from malmoi.cli import run
from malmoi.encode.encoder import load_transformer
from malmoi.search.build import build_index, open_index
from malmoi.search.entries import make_entries
from malmoi.search.update import update_index

Output = pytest.CaptureFixture[str]
KOREAN = ["환불을 받고 싶어요", "배송이 너무 늦어요", "비밀번호를 잊어버렸어요"]
ENGLISH = ["I want a refund", "the parcel is late", "I forgot my password"]
TOLD = "texts are mostly words that the model knows only as single letters"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ko.txt").write_text("\n".join(KOREAN), encoding="utf-8")
    Path("en.txt").write_text("\n".join(ENGLISH), encoding="utf-8")


def test_an_index_and_its_queries_say_it_once_each(capsys: Output) -> None:
    assert run(["index", "ko.txt", "--model", "minilm", "--out", "I"]) == 0
    told = capsys.readouterr().err
    assert f"minilm: 3 of 3 {TOLD}" in told
    assert "(100% of all words)" in told
    assert "for Korean choose the model use" in told
    assert told.count("note:") == 1
    assert run(["search", "I", "환불 받고 싶어"]) == 0
    told = capsys.readouterr().err
    assert f"minilm: 1 of 1 {TOLD}" in told
    assert told.count("note:") == 1
    assert run(["search", "I", "my refund"]) == 0  # the texts are not told of again
    assert capsys.readouterr().err == ""


def test_batches_of_an_index_are_told_of_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malmoi.search.writer.BATCH_TEXTS", 2)
    texts = [*KOREAN, *ENGLISH[:2]]
    with pytest.warns(UserWarning, match=f"minilm: 3 of 5 {TOLD}") as told:
        update_index("I", load_transformer("minilm"), make_entries(texts, None, None))
    assert len(told) == 1


@pytest.mark.parametrize(
    ("file", "model", "dim"), [("ko.txt", "use", 512), ("en.txt", "minilm", 384)]
)
def test_an_index_without_a_model_takes_the_one_that_fits(
    file: str, model: str, dim: int, capsys: Output
) -> None:
    assert run(["index", file, "--out", "I"]) == 0
    assert f"no --model given: using {model}" in capsys.readouterr().err
    index = open_index("I")
    assert (index.state.model, index.state.dim) == (model, dim)
    assert run(["index", "en.txt", "--out", "I"]) == 0  # an index that is there has its own
    assert "no --model given" not in capsys.readouterr().err
    assert open_index("I").state.model == model


def test_an_index_of_vectors_is_searched_without_a_note() -> None:
    index = build_index(load_transformer("minilm"), ENGLISH)
    assert index.search("money back", 1)[0].text == ENGLISH[0]


def test_an_evaluation_says_it(capsys: Output) -> None:
    pairs = zip(KOREAN, reversed(KOREAN), (1, 5, 2), strict=True)
    lines = [f"{one},{other},{score}" for one, other, score in pairs]
    Path("sts.csv").write_text("\n".join(lines), encoding="utf-8")
    assert run(["evaluate", "minilm", "--file", "sts.csv"]) == 0
    told = capsys.readouterr().err
    assert f"minilm: 3 of 3 {TOLD}" in told
    assert told.count(TOLD) == 1
    assert run(["sweep", "minilm", "--file", "sts.csv"]) == 0
    assert capsys.readouterr().err.count(TOLD) == 1
