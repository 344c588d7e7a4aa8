"""Values shown as tables: escaped HTML in a notebook, text in a terminal, heads of large values."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from malmoi.encode.bulk.write_file import WriteReport
from malmoi.encode.pipeline.activations import Activations, SpanVectors
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.encode.tokens.tokenized import Tokenized
from malmoi.evaluate.analogies import AnalogyScore, SectionScore
from malmoi.evaluate.retrieval import RetrievalScores
from malmoi.evaluate.scores import Score
from malmoi.evaluate.senses import LayerSeparation, SenseSeparation
from malmoi.evaluate.sentences import SentenceScore, SentenceScores
from malmoi.evaluate.similarity import SimilarityScore
from malmoi.evaluate.sweep import Sweep
from malmoi.evaluate.typo_robustness import TypoScore
from malmoi.evaluate.word_vectors import WordScores
from malmoi.models.cooccurrences import Cooccurrences
from malmoi.query.analogy import analogy
from malmoi.query.context import Occurrences
from malmoi.query.neighbours import Neighbour, NeighbourLists, Neighbours, neighbours
from malmoi.search.build import build_index
from malmoi.search.querying.hits import Hit, Hits
from malmoi.search.writer import IndexUpdate
from malmoi.table import Table, Tabular, columns, formatted, shortened
from malmoi.train.counts.pmi import ProbabilityTable
from malmoi.vectors import Vectors
from malmoi.vocabulary import Vocabulary
from tests.query.worlds import capitals, random_vectors

EVIL = "<script>alert('x')</script>"
SCORE = Score(value=0.5, low=0.4, high=0.6, answered=90, total=100)
SIMILARITY = SimilarityScore(EVIL, SCORE, 0, ("unknown",))
ANALOGIES = AnalogyScore("set", "add", (SectionScore(EVIL, False, 45, SCORE),))
TYPOS = TypoScore(EVIL, SCORE, 0.5, 0.4, 3, 0, 0)
SPAN = np.zeros((1, 2), np.int32)
ONE = np.ones((1, 4), np.float32)


def tokenized() -> Tokenized:
    numbers = np.zeros(1, np.int32)
    return Tokenized(EVIL, (EVIL,), numbers, numbers, numbers, numbers, SPAN)


def cooccurrences() -> Cooccurrences:
    vocabulary = Vocabulary.of({EVIL: 3})
    numbers = np.array([0, 1], np.int64), np.zeros(1, np.uint32), np.ones(1, np.uint32)
    return Cooccurrences(vocabulary, *numbers)


VALUES: dict[str, Callable[[], Tabular]] = {
    "vectors": lambda: Vectors([EVIL], ONE, counts=[7]),
    "vocabulary": lambda: Vocabulary.of({EVIL: 3}),
    "neighbours": lambda: Neighbours([Neighbour(EVIL, 0.5)], EVIL),
    "neighbour lists": lambda: NeighbourLists([Neighbours([Neighbour(EVIL, 0.5)], "a")]),
    "hits": lambda: Hits([Hit(EVIL, 0.5, EVIL, {EVIL: EVIL})]),
    "index": lambda: build_index(Vectors([EVIL], ONE)),
    "similarity": lambda: SIMILARITY,
    "analogies": lambda: ANALOGIES,
    "typos": lambda: TYPOS,
    "word scores": lambda: WordScores((SIMILARITY,), (ANALOGIES,), (TYPOS,)),
    "sentences": lambda: SentenceScore(EVIL, SCORE, SCORE),
    "sentence scores": lambda: SentenceScores([SentenceScore(EVIL, SCORE, SCORE)]),
    "sweep": lambda: Sweep(EVIL, ((Recipe(),),), ((0.5,),), (0, 0), SCORE),
    "occurrences": lambda: Occurrences(EVIL, (EVIL,), (0,), SPAN, (EVIL,), ONE),
    "activations": lambda: Activations((tokenized(),), (ONE[np.newaxis],), (6,), 7),
    "span vectors": lambda: SpanVectors((EVIL,), SPAN, ONE),
    "probabilities": lambda: ProbabilityTable((EVIL,), ("ice",), np.ones((1, 1))),
    "co-occurrences": cooccurrences,
}
WITHOUT_TEXT: dict[str, Tabular] = {
    "score": SCORE,
    "retrieval": RetrievalScores(SCORE, SCORE),
    "senses": SenseSeparation([LayerSeparation(0, 0.5, 0.2, 0.1, SCORE)]),
    "update": IndexUpdate(1, 0, 0, 0, 1, 1, 1, 0.3),
    "written": WriteReport(3, 3, 4, 1, 0, TextStats()),
}


def cells(value: Tabular, tag: str = "td") -> list[str]:
    return re.findall(rf"<{tag} [^>]*>(.*?)</{tag}>", value._repr_html_())


@pytest.mark.parametrize("name", VALUES)
def test_text_is_escaped(name: str) -> None:
    html = VALUES[name]()._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;alert(&#x27;x&#x27;)" in html
    assert html.count("<table") == html.count("</table>") == 1


@pytest.mark.parametrize("name", [*VALUES, *WITHOUT_TEXT])
def test_a_terminal_shows_something_short(name: str) -> None:
    shown = repr(VALUES[name]() if name in VALUES else WITHOUT_TEXT[name])
    assert "object at" not in shown
    assert "array(" not in shown
    assert len(shown) < 500


@pytest.mark.parametrize("name", WITHOUT_TEXT)
def test_other_reports_are_tables_too(name: str) -> None:
    assert cells(WITHOUT_TEXT[name])


def test_a_large_value_shows_its_head_and_its_count() -> None:
    html = random_vectors(5000)._repr_html_()
    assert "5,000 words × 12 dimensions" in html
    assert html.count("<tr>") == 11
    assert "… 4,990 more" in html
    assert len(html) < 15_000


def test_empty_values_are_shown() -> None:
    empty = Vectors([], np.empty((0, 3)))
    for value in (empty, Vocabulary.of({}), Neighbours(), NeighbourLists(), Hits()):
        assert "<table" in value._repr_html_()
        assert repr(value)


def test_neighbours_are_a_list_with_a_table() -> None:
    near = neighbours(capitals(), "서울", k=3)
    assert isinstance(near, list)
    assert near == [*near]
    assert "3 neighbours of 서울" in near._repr_html_()
    assert cells(near)[::2] == [one.key for one in near]
    assert repr(near).splitlines()[0] == "3 neighbours of 서울"


def test_a_slice_of_a_table_is_a_table() -> None:
    near = neighbours(capitals(), "서울", k=3)
    assert type(near[:2]) is Neighbours
    assert (len(near[:2]), near[:2].query, len(near)) == (2, "서울", 3)
    hits = Hits([Hit("1", 0.5, "a", {}), Hit("2", 0.4, "b", {})], weight=0.3)[1:]
    assert (hits[0].id, hits.weight) == ("2", 0.3)


def test_several_queries_are_one_table() -> None:
    near = neighbours(capitals(), ["서울", "도쿄"], k=2)
    assert cells(near)[::2] == ["서울", "도쿄"]
    assert near[0] == neighbours(capitals(), "서울", k=2)


def test_an_analogy_is_titled_by_its_expression() -> None:
    assert "일본 - 한국 + 서울" in analogy(capitals(), "일본 - 한국 + 서울")._repr_html_()


def test_numbers_are_aligned_to_the_right() -> None:
    assert Table("t", ["a", "b"], [("x", 1.0)]).html().count("text-align: right") == 2


def test_columns_line_up_where_letters_are_wide() -> None:
    table = Table("words", ["word", "n"], [("한국", 1), ("a", 20)], total=5)
    assert table.text().splitlines() == [
        "words",
        "  word   n",
        "  한국   1",
        "  a     20",
        "  … 3 more",
    ]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, "–"),
        (1234567, "1,234,567"),
        (0.12345, "0.123"),
        (0.0, "0.000"),
        (1.9e-4, "1.90e-04"),
        (float("nan"), "nan"),
        ("two\nlines", "two lines"),
    ],
)
def test_cells_as_text(cell: str | float | None, text: str) -> None:
    assert formatted(cell) == text


@pytest.mark.parametrize("text", ["a" * 99, "한" * 99, "a한" * 50])
def test_long_cells_are_shortened_to_their_columns(text: str) -> None:
    short = shortened(text, 20)
    assert short.endswith("…")
    assert 18 <= columns(short) <= 20
    assert shortened("short", 5) == "short"
