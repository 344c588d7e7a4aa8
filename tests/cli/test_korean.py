"""The command line in Korean: help, errors, warnings, and which language is chosen."""

import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from malmoi.cli import make_app, run
from malmoi.cli.translation.catalogue import Catalogue
from malmoi.cli.translation.language import LOCALE_VARIABLES, language, translate
from malmoi.cli.translation.particles import with_particle
from malmoi.cli.translation.po_file import PoEntry, read_po
from tests.messages.help_texts import commands

ENGLISH_PROSE = re.compile(r"\b(the|of|and|which|each)\b")


@pytest.fixture(autouse=True)
def korean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALMOI_LANG", "ko")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "en"),
        ({"LANG": "ko_KR.UTF-8"}, "ko"),
        ({"LANG": "ko"}, "ko"),
        ({"LANG": "kok_IN"}, "en"),
        ({"LANG": "ko_KR.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "ko_KR.eucKR"}, "ko"),
        ({"LANG": "ko_KR.UTF-8", "MALMOI_LANG": "en"}, "en"),
        ({"LC_ALL": "C", "MALMOI_LANG": "ko-KR"}, "ko"),
        ({"LANG": "ko_KR.UTF-8", "LC_ALL": ""}, "ko"),
    ],
)
def test_malmoi_lang_wins_then_the_locale(
    variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MALMOI_LANG", *LOCALE_VARIABLES):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language() == expected


@pytest.mark.parametrize("words", list(commands(make_app())), ids=" ".join)
def test_every_help_is_korean_and_fits_a_terminal(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("사용법: malmoi")
    assert max(cell_len(line) for line in lines) <= 80
    assert not any(ENGLISH_PROSE.search(line) for line in lines)


def test_an_error_is_korean(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["neighbours", "/nowhere/a.vec", "king"]) == 1
    assert capsys.readouterr().err == "malmoi: /nowhere/a.vec가 없습니다\n"


def test_a_usage_error_is_korean(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serach", "x"]) == 2
    error = capsys.readouterr().err
    assert error == (
        'malmoi: 모르는 명령 "serach"입니다. 혹시 "search" 아닌가요? (malmoi --help를 보세요)\n'
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["embed", "--pool", "men", "x"], '--pool의 값 "men"이 잘못되었습니다. "cls", "mean"'),
        (["embed", "--fle", "x"], "모르는 옵션 --fle입니다. 혹시 --file 아닌가요?"),
        (["neighbours", "a", "b", "-k", "x"], '"x"를 int로 읽을 수 없습니다'),
        (["neighbours"], "MODEL이 없습니다 (malmoi neighbours --help를 보세요)"),
        (["embed", "x", "--out"], "--out에 값이 필요합니다"),
    ],
)
def test_what_cyclopts_reports_is_korean(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2
    assert expected in capsys.readouterr().err


def test_a_warning_is_korean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_bytes("한국어 말뭉치\n".encode() + b"\xff\n")
    assert run(["vocab", str(corpus), "--min-count", "1"]) == 0
    assert "참고: 텍스트가 아닌 바이트가 있어 U+FFFD로 바꾼 줄: 1개" in capsys.readouterr().err


def test_json_stays_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("words of texts\n", "utf-8")
    printed = []
    for chosen in ("ko", "en"):
        monkeypatch.setenv("MALMOI_LANG", chosen)
        assert run(["vocab", str(corpus), "--min-count", "1", "--json"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


def test_a_message_without_korean_stays_english() -> None:
    assert translate("nobody wrote this of all sentences") == "nobody wrote this of all sentences"


def test_values_in_quotes_are_the_users_own() -> None:
    said = translate(
        "the encoder 'no text' has changed since this classifier was trained on its"
        " vectors: train the classifier again"
    )
    assert "인코더 'no text'가 바뀌었습니다" in said


def test_a_message_in_a_message_is_translated() -> None:
    assert translate("a.npy is damaged: its checksum is wrong") == (
        "a.npy가 손상되었습니다: 체크섬이 다릅니다"
    )


def test_the_source_before_a_message_stays() -> None:
    assert translate("my: model: 2 of 5 texts are empty: their vectors are meaningless") == (
        "my: model: 텍스트 5개 중 2개는 비어 있어 벡터에 의미가 없습니다"
    )


def test_a_phrase_after_a_value_is_found() -> None:
    assert translate("'kingg' is not in the vectors; did you mean king, kings?") == (
        "'kingg'는 벡터에 없습니다. 혹시 king, kings 아닌가요?"
    )


@pytest.mark.parametrize(
    ("word", "topic"),
    [
        *(
            ("서울", "은"),
            ("한국어", "는"),
            ("'서울'", "은"),
            ("말뭉치(10)", "는"),
            ("8%", "는"),
            ("10", "은"),
        ),
        *(("2", "는"), ("3", "은"), ("minilm", "은"), ("BERT", "는"), ("LSTM", "은")),
        *(("--out", "은"), ("vocab.txt", "는"), ("file", "은"), ("seed", "는"), ("?", "은(는)")),
    ],
)
def test_particles_follow_the_last_sound(word: str, topic: str) -> None:
    assert with_particle(word, "은") == topic


@pytest.mark.parametrize(
    ("word", "expected"), [("서울", "로"), ("부산", "으로"), ("7", "로"), ("?", "(으)로")]
)
def test_ro_has_no_eu_after_rieul(word: str, expected: str) -> None:
    assert with_particle(word, "으로") == expected


def test_po_files_have_comments_contexts_and_joined_lines() -> None:
    text = (
        '# c\nmsgid ""\nmsgstr "Language: ko\\n"\n\n#: a.py\nmsgctxt "phrase"\n'
        'msgid "a "\n"\\"b\\""\nmsgstr "가"\n'
    )
    assert read_po(text) == [PoEntry('a "b"', "가", "phrase")]


def test_the_longest_template_wins() -> None:
    short, long = PoEntry("{a} is written to {b}", "1"), PoEntry("{a} is written to file {b}", "2")
    assert Catalogue([short, long]).translate("x is written to file y") == "2"
