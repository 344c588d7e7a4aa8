"""Parts of `malmoi demo`: its Korean lines, FastText with a typo, questions in two languages."""

from pathlib import Path

from malmoi.cli.demo.korean_lines import filled, korean_lines, with_particle
from malmoi.cli.demo.questions import ANSWERS, QUESTIONS, show_questions
from malmoi.cli.demo.sentences import KOREAN, SHIP_PEAR_STOMACH, nearest_sentences
from malmoi.cli.demo.subwords import show_subwords


def test_the_lines_are_some_thousand() -> None:
    lines = list(korean_lines())
    assert 3000 < len(lines) < 5000
    assert not any(mark in line for line in lines for mark in "{}")


def test_particles_follow_the_final_consonant() -> None:
    assert with_particle("강", "이가") == "강이"
    assert with_particle("고양이", "이가") == "고양이가"
    assert with_particle("강아지", "와과") == "강아지와"
    assert with_particle("대출", "와과") == "대출과"
    assert with_particle("지하철", "으로로") == "지하철로"
    assert with_particle("감기", "으로로") == "감기로"
    assert with_particle("복통", "으로로") == "복통으로"
    assert with_particle("토끼", "에게") == "토끼에게"
    assert filled("{b}에 {a이가} 와요", "비", "산") == "산에 비가 와요"


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
