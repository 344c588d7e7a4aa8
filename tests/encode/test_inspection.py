"""What `inspect` says of a model's folder, and what becomes of Korean in it."""

import json
import os
import unicodedata
from pathlib import Path

import pytest
import transformers
from rich.cells import cell_len

from malmoi.cli import run
from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.encode.inspection import inspect_model
from malmoi.encode.runtime.engine import arithmetic_of
from malmoi.errors import InvalidFileError
from tests.encode.checkpoints import change, save_model

DATA = Path(os.environ.get("MALMOI_DATA", Path(__file__).parents[3] / "shared" / "data"))
KOREAN = ["한국어 문장을 읽는다", "안녕하세요, 세계!", "ㅋㅋㅋ 대박", "값이 비싸다 café"]
JAMO = [chr(0x1112), "##" + chr(0x1161), "##" + chr(0x11AB)]  # 한 in its letters
SYLLABLES = ["한국어", "##를", "읽", "##는", "##다"]


def nfd(texts: list[str]) -> list[str]:
    return [unicodedata.normalize("NFD", text) for text in texts]


def with_vocabulary(folder: Path, tokens: list[str], *, lower: bool) -> str:
    """A model that has a vocab.txt and nothing else to tokenize texts with."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    save_model(folder, "bert", vocab_size=len(special + tokens))
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lower}))
    (folder / "vocab.txt").write_text("\n".join(special + tokens) + "\n", encoding="utf-8")
    return str(folder)


def test_the_facts_of_minilm(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", "minilm", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    expected = {
        "family": "bert",
        "layers": 6,
        "dim": 384,
        "heads": 12,
        "vocab_size": 30522,
        "max_length": 256,
        "dtypes": "float32",
        "arithmetic": "float32",
        "tokenizer": "WordPiece, lower case, 30,522 tokens",
        "pooling": "mean, Normalize",
        "prompts": [],
    }
    assert {name: said[name] for name in expected} == expected
    (finding,) = said["findings"]
    assert finding["problem"].startswith("Hangul is split into jamo")
    assert run(["inspect", "minilm"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert "layers      6 of 384 dimensions, 12 heads" in shown
    assert max(map(cell_len, shown)) <= 80
    assert cell_len(" ".join(shown)) > 80 * 5


def test_the_arithmetic_of_a_quantized_model_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", "minilm:quantized"]) == 0
    arithmetic = arithmetic_of("quantized")
    assert f"arithmetic  {arithmetic} on this processor" in capsys.readouterr().out.splitlines()


def test_jamo_are_recognized_by_tokens_and_not_by_names(tmp_path: Path) -> None:
    apart = with_vocabulary(tmp_path / "apart", JAMO, lower=True)
    (finding,) = inspect_model(apart).findings
    assert finding.problem == "Hangul is unknown to the tokenizer"  # some letters are missing
    letters = sorted(set(unicodedata.normalize("NFD", "한국어를읽는다")))
    tokens = [*letters, *(f"##{letter}" for letter in letters)]
    whole = with_vocabulary(tmp_path / "letters", tokens, lower=True)
    (finding,) = inspect_model(whole).findings
    assert finding.problem.startswith("Hangul is split into jamo")
    assert finding.example.startswith("한국어를 읽는다 is ᄒ ##ᅡ ##ᆫ")
    good = with_vocabulary(tmp_path / "good", SYLLABLES, lower=False)
    assert inspect_model(good).findings == ()
    assert "cased" in inspect_model(with_vocabulary(tmp_path / "c", ["Été"], lower=False)).tokenizer


def test_letters_are_read_as_syllables_by_a_cased_vocabulary(tmp_path: Path) -> None:
    tokenizer = load_transformer(with_vocabulary(tmp_path, SYLLABLES, lower=False)).tokenizer
    whole, apart = tokenizer(["한국어를 읽는다", *nfd(["한국어를 읽는다"])])
    assert whole.tokens == apart.tokens == ("[CLS]", *SYLLABLES, "[SEP]")
    assert whole.offsets.tolist() == apart.offsets.tolist()


@pytest.mark.parametrize("name", ["bert-base-multilingual-cased", "koelectra-base"])
def test_real_vocabularies_read_letters_as_syllables(name: str, tmp_path: Path) -> None:
    vocabulary = DATA / "vocab" / f"{name}.txt"
    if not vocabulary.exists():
        pytest.skip(f"{vocabulary} is not there")
    tokens = vocabulary.read_text(encoding="utf-8").splitlines()
    save_model(tmp_path, "bert", vocab_size=len(tokens), num_hidden_layers=1)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    (tmp_path / "vocab.txt").write_bytes(vocabulary.read_bytes())
    tokenizer = load_transformer(str(tmp_path)).tokenizer
    peer = transformers.BertTokenizer(vocab=str(vocabulary), do_lower_case=False)
    for text, apart in zip(tokenizer(KOREAN), tokenizer(nfd(KOREAN)), strict=True):
        assert text.ids.tolist() == apart.ids.tolist() == peer(text.text)["input_ids"]
    assert not any("Hangul" in finding.problem for finding in inspect_model(str(tmp_path)).findings)


def test_minilm_tokenizes_korean_as_its_own_tokenizer_does(minilm: TransformerEncoder) -> None:
    peer = transformers.AutoTokenizer.from_pretrained(minilm.modules.transformer)
    for texts in (KOREAN, nfd(KOREAN)):
        for text, tokens in zip(texts, minilm.tokenizer(texts), strict=True):
            assert tokens.ids.tolist() == peer(text)["input_ids"]


def test_faults_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_model(tmp_path, "bert")
    change(tmp_path / "config.json", num_hidden_layers=4)
    (tmp_path / "tokenizer.json").write_text("{}")
    assert run(["inspect", str(tmp_path)]) == 0
    shown = "".join(capsys.readouterr().out.split())  # a long path is broken anywhere
    assert "lacks'encoder.layer.3" in shown
    assert "tokenizer.jsonisnotatokenizer" in shown
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    assert "malmoi convert" in inspect_model(str(tmp_path)).findings[0].problem


def test_what_is_not_there_is_not_looked_for_on_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    assert run(["inspect", "data/words.vec"]) == 1
    assert capsys.readouterr().err == "malmoi: data/words.vec does not exist\n"
    assert run(["inspect", "use"]) == 1
    assert "is a package without a model folder" in capsys.readouterr().err


def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="it is not a model folder"):
        inspect_model(str(tmp_path))
    with pytest.raises(InvalidFileError, match="it is not a model folder"):
        load_transformer(str(tmp_path))
