from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors

import malmoi as mm
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate import completion
from malmoi.evaluate.analogies import analogies
from malmoi.evaluate.sets.word_sets import AnalogySection, AnalogySet, read_analogies
from malmoi.query.analogy import AnalogyMethod
from malmoi.vectors import Vectors
from tests.query.worlds import capitals, random_vectors
from tests.recording_reporter import RecordingReporter


def asked(*questions: str, section: str = "capitals") -> AnalogySet:
    words = [question.split() for question in questions]
    return AnalogySet(
        "some", (AnalogySection(section, tuple((a, b, c, d) for a, b, c, d in words)),)
    )


@pytest.mark.parametrize("method", ["add", "multiply"])
def test_countries_and_their_capitals(method: AnalogyMethod) -> None:
    found = analogies(
        capitals(), asked("서울 한국 도쿄 일본", "도쿄 일본 서울 한국"), method=method
    )
    assert found.total.value == 1
    assert (found.total.answered, found.total.total, found.method) == (2, 2, method)


def test_the_words_asked_with_are_no_answer() -> None:
    # Nearest to 서울 - 한국 + 서울 is 서울 itself.
    found = analogies(capitals(), asked("한국 서울 서울 서울"))
    assert found.sections[0].correct == 0


def test_a_question_with_an_unseen_word_is_left_out_and_counted() -> None:
    found = analogies(capitals(), asked("한국 서울 일본 도쿄", "한국 서울 독일 베를린"))
    assert (found.total.value, found.total.answered, found.total.total) == (1, 1, 2)
    nothing = analogies(capitals(), asked("a b c d"))
    assert (nothing.total.value, nothing.total.answered) == (None, 0)


def test_kinds_are_summed() -> None:
    one = asked("한국 서울 일본 도쿄").sections[0]
    forms = asked("한국 서울 일본 사과", section="gram1").sections[0]
    found = analogies(capitals(), AnalogySet("some", (one, forms)))
    assert (found.semantic.value, found.syntactic.value, found.total.value) == (1, 0, 0.5)


def test_case_is_folded_and_variants_are_no_answer() -> None:
    keys = ["korea", "seoul", "japan", "tokyo", "Japan", "apple"]
    matrix = [[1, 0, 0.2], [1, 1, 0.2], [0.2, 0, 1], [0.2, 1, 1], [0.2, 1, 1], [-1, 0.6, -0.3]]
    vectors = Vectors(keys, matrix)
    question = asked("Korea Seoul JAPAN Tokyo")
    assert analogies(vectors, question).total.value == 1
    assert analogies(vectors, question, fold_case=False).total.answered == 0
    restricted = analogies(vectors, question, restrict_vocab=3)
    assert restricted.total.answered == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
@pytest.mark.parametrize("method", ["add", "multiply"])
def test_a_row_that_points_nowhere_neither_asks_nor_answers(
    bad: float, method: AnalogyMethod
) -> None:
    matrix = capitals().matrix.copy()
    matrix[4] = bad  # 사과
    vectors = replace(capitals(), matrix=matrix)
    found = analogies(vectors, asked("서울 한국 도쿄 일본", "서울 한국 사과 일본"), method=method)
    assert (found.total.value, found.total.answered) == (1, 1)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="method must be add or multiply; got 'divide'"):
        analogies(capitals(), asked("a b c d"), method="divide")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="restrict_vocab must be at least 1; got -1"):
        analogies(capitals(), asked("a b c d"), restrict_vocab=-1)


def test_progress_comes_to_an_end() -> None:
    reporter = RecordingReporter()
    analogies(random_vectors(5000), asked("w1 w2 w3 w4"), reporter=reporter)
    calls = reporter.stages["answering analogies"]
    assert calls[-1] == (5000, 5000)
    assert len(calls) > 1


@pytest.mark.parametrize("method", ["add", "multiply"])
def test_tiles_find_what_one_question_at_a_time_finds(
    method: AnalogyMethod, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completion, "TILE_ROWS", 64)
    monkeypatch.setattr(completion, "TILE_DIRECTIONS", 7)
    vectors, random = random_vectors(), np.random.default_rng(6)
    questions = np.stack([random.choice(500, 3, replace=False) for _ in range(40)])
    excluded = np.array([(i, row) for i, rows in enumerate(questions) for row in rows])
    found = completion.complete_analogies(vectors.matrix, questions, excluded, method)
    for (a, b, c), row in zip(questions, found, strict=True):
        best = mm.analogy(vectors, f"w{b} - w{a} + w{c}", 1, method=method)[0]
        assert best.key == f"w{row}"


def test_no_questions_and_no_rows_left() -> None:
    nothing = np.empty((0, 3), np.int64)
    matrix = np.eye(3, dtype=np.float32)
    assert len(completion.complete_analogies(matrix, nothing, np.empty((0, 2), np.int64))) == 0
    all_of_them = np.array([(0, 0), (0, 1), (0, 2)])
    assert completion.complete_analogies(matrix, np.array([[0, 1, 2]]), all_of_them).tolist() == [
        -1
    ]


@pytest.mark.parametrize("fold_case", [True, False])
def test_glove_scores_as_in_gensim(gensim_data: Callable[[str], Path], fold_case: bool) -> None:
    vectors = mm.load("glove-6b-50d", limit=3000)
    if not fold_case:  # then the names of countries must be written as in the test
        vectors = replace(vectors, keys=mm.Vectors(titled(vectors), vectors.matrix).keys)
    peer = KeyedVectors(vectors.dim)
    peer.add_vectors(list(vectors.keys), vectors.matrix)
    path = gensim_data("questions-words.txt")
    total, sections = peer.evaluate_word_analogies(
        str(path), restrict_vocab=2500, case_insensitive=fold_case
    )
    ours = analogies(vectors, read_analogies(path), restrict_vocab=2500, fold_case=fold_case)
    assert ours.total.value == pytest.approx(total)
    for one, theirs in zip(ours.sections, sections, strict=False):
        assert one.name == theirs["section"]
        assert one.correct == len(theirs["correct"])
        assert one.accuracy.answered == len(theirs["correct"]) + len(theirs["incorrect"])


def titled(vectors: Vectors) -> list[str]:
    return [key.title() if i % 2 else key for i, key in enumerate(vectors.keys)]
