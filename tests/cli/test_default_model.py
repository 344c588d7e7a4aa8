"""One rule for the model of a command without --model, whichever command reads the texts."""

from pathlib import Path

import pytest

from malmoi.cli import embed as embed_module
from malmoi.cli import index as index_module
from malmoi.cli import mine as mine_module
from malmoi.cli import run
from malmoi.errors import InvalidArgumentError

KOREAN, ENGLISH = "서울은 한국의 수도이다.", "Seoul is the capital of Korea."
TEXTS = {
    "english": [ENGLISH] * 3,
    "korean": [KOREAN] * 3,
    "mixed": [ENGLISH, KOREAN, ENGLISH],
    "korean later": [ENGLISH] * 500 + [KOREAN] * 500,
    "one word": [*[ENGLISH] * 20, "It is called 김치."],
    "numbers": ["1 2 3", "4 5 6"],
}


@pytest.mark.parametrize("name", TEXTS)
def test_index_and_embed_choose_the_same_model(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = list[str]()

    def refuse(model: str) -> None:
        chosen.append(model)
        raise InvalidArgumentError("enough")

    for module in (embed_module, index_module):
        monkeypatch.setattr(module, "load_encoder", refuse)
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS[name]), encoding="utf-8")
    assert run(["embed", "--file", str(path), "--out", str(tmp_path / "v.npy")]) != 0
    assert run(["index", str(path), "--out", str(tmp_path / "i")]) != 0
    assert len(chosen) == 2, capsys.readouterr().err
    assert chosen[0] == chosen[1], chosen
    assert capsys.readouterr().err.count(f"no --model given: using {chosen[0]}") == 2


@pytest.mark.parametrize(("text", "model"), [(KOREAN, "use"), (ENGLISH, "minilm")])
def test_mine_chooses_by_the_language_of_the_pairs(
    text: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = list[str]()

    def refuse(name: str) -> None:
        chosen.append(name)
        raise InvalidArgumentError("enough")

    monkeypatch.setattr(mine_module, "load_encoder", refuse)
    path = tmp_path / "pairs.tsv"
    path.write_text(f"query\tanswer\n{text}\t{text} 1\n", encoding="utf-8")
    words = ["mine", str(path), "--out", str(tmp_path / "t.jsonl")]
    assert run(words) != 0
    assert run([*words, "--model", "other"]) != 0
    assert chosen == [model, "other"]


def test_the_rule_tells_languages_apart() -> None:
    from malmoi.cli.shared.default_model import model_for

    with pytest.warns(match="no --model given"):
        assert (model_for(TEXTS["korean"]), model_for(TEXTS["english"])) == ("use", "minilm")
