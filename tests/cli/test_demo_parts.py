"""Parts of `malmoi demo`: its Korean lines, FastText with a typo, questions in two languages."""

from pathlib import Path

from malmoi.cli.demo.korean_lines import filled, korean_lines
from malmoi.cli.demo.questions import ANSWERS, QUESTIONS, show_questions
from malmoi.cli.demo.sentences import KOREAN, SHIP_PEAR_STOMACH, nearest_sentences
from malmoi.cli.demo.subwords import show_subwords


def test_the_lines_are_some_thousand() -> None:
    lines = list(korean_lines())
    assert 3000 < len(lines) < 5000
    assert not any(mark in line for line in lines for mark in "{}")


def test_particles_follow_the_final_consonant() -> None:
    pairs = (
        ("이", "강", "강이"), ("이", "고양이", "고양이가"), ("과", "강아지", "강아지와"),
        ("과", "대출", "대출과"), ("으로", "지하철", "지하철로"), ("으로", "감기", "감기로"),
        ("으로", "복통", "복통으로"), ("에게", "토끼", "토끼에게"),
    )  # fmt: skip
    for particle, word, written in pairs:
        assert filled(f"{{a{particle}}}", word, "산") == written
    assert filled("{b}에 {a이} 와요", "비", "산") == "산에 비가 와요"


def test_a_typo_is_understood_and_a_page_is_written(tmp_path: Path) -> None:
    shown = list[str]()
    result = show_subwords(shown.append, tmp_path)
    assert result["meant"] == "환불"
    assert {"교환", "반품"} & {*result["near"]}
    assert "<html" in (tmp_path / "words.html").read_text(encoding="utf-8")
    assert all(len(line) < 80 for line in shown)


def test_questions_in_both_languages_find_the_same_answer() -> None:
    found = show_questions(lambda *_: None)
    assert found[QUESTIONS[0]] == found[QUESTIONS[1]] == ANSWERS[0]


def test_the_senses_of_a_word_are_told_apart() -> None:
    assert nearest_sentences(KOREAN, SHIP_PEAR_STOMACH) == SHIP_PEAR_STOMACH
