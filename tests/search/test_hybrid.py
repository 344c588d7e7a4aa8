"""Hybrid search: both scores of every candidate, a weight by hand or learnt, kept and renewed."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.arrays import Float32Array
from malmoi.cli import run
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.search.build import build_index, open_index
from malmoi.search.learn_weight import WEIGHTS, choose_weight, learn_weight
from malmoi.search.querying.pseudo_queries import make_queries
from malmoi.search.storage.entry import Entry
from malmoi.search.storage.fusion import DEFAULT_WEIGHT, RANGE_DEVIATIONS, Fusion, cosine_spread
from malmoi.search.update import update_index
from malmoi.vectors import Vectors
from tests.search.worlds import TEXTS, BagOfWords, edit_manifest, naive_bm25

BAG = BagOfWords()
SUBJECTS = ("river", "bank", "guitar", "market", "engine", "castle", "teacher", "harbour")
VERBS = ("crosses", "raises", "repairs", "paints", "watches", "follows", "sells", "keeps")
THINGS = ("boats", "prices", "walls", "songs", "letters", "lamps", "horses", "clouds")


def many(count: int = 64) -> list[str]:
    return [
        f"The {SUBJECTS[i % 8]} {VERBS[i // 8 % 8]} old {THINGS[(i * 3 + i // 8) % 8]} today"
        for i in range(count)
    ]


@dataclass(frozen=True)
class Noise(BagOfWords):
    """An encoder whose vectors say nothing: each text has one of its own."""

    name: str = "noise"

    def encode(
        self, texts: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Float32Array:
        return np.stack([self.word(f"text {text}") for text in texts])


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.7, 1.0])
def test_a_score_is_the_weighted_sum_of_cosine_and_bm25(weight: float) -> None:
    index, query = build_index(BAG, TEXTS), "river bank interest"
    words = [index.state.analyser(text) for text in TEXTS]
    asked = index.state.analyser(query)
    having = [sum(word in text for text in words) for word in asked]
    highest = sum(np.log(1 + (8 - n + 0.5) / (n + 0.5)) for n in having)
    (direction,) = BAG.encode([query])
    matrix = BAG.encode(TEXTS)
    lengths = np.linalg.norm(matrix, axis=1) * np.linalg.norm(direction)
    cosines = matrix @ direction / lengths / (RANGE_DEVIATIONS * index.state.spread)
    expected = (1 - weight) * cosines + weight * np.array(naive_bm25(words, asked)) / highest
    hits = index.search(query, 8, hybrid=True, weight=weight)
    assert hits.weight == weight
    for hit in hits:
        assert hit.score == pytest.approx(expected[int(hit.id)], abs=1e-5)
    best = np.argsort(-expected, kind="stable")[: len(hits)]
    assert [hit.id for hit in hits] == [str(row) for row in best]


@given(st.integers(0, 2**32))
def test_a_weight_of_nought_or_one_is_one_side_alone(seed: int) -> None:
    random = np.random.default_rng(seed)
    index, query = build_index(BAG, many()), " ".join(random.choice(many()).split()[1:4])
    for weight in (0.0, 1.0):
        both = index.search(query, 5, hybrid=True, weight=weight)
        alone = index.search(query, 5, lexical=bool(weight))
        assert [hit.id for hit in both] == [hit.id for hit in alone]


def test_segments_deleted_rows_and_passages_change_no_hybrid_score(tmp_path: Path) -> None:
    texts = many(40)
    whole = build_index(BAG, texts[5:], ids=map(str, range(5, 40)))
    parts = build_index(BAG, texts[:20], path=tmp_path / "i")
    parts.add(texts[20:], ids=[str(i) for i in range(20, 40)])
    parts.delete([str(i) for i in range(5)])
    found = parts.search("bank prices", 10, hybrid=True, weight=0.5)
    parts.state.__dict__["spread"] = whole.state.spread  # a sample, of other rows
    again = parts.search("bank prices", 10, hybrid=True, weight=0.5)
    expected = whole.search("bank prices", 10, hybrid=True, weight=0.5)
    assert {hit.id for hit in found} == {hit.id for hit in expected}
    scores = {hit.id: hit.score for hit in expected}
    assert {hit.id: hit.score for hit in again} == pytest.approx(scores, abs=1e-5)


def test_a_query_of_unknown_words_is_found_by_meaning_and_the_reverse() -> None:
    index = build_index(BAG, TEXTS)
    with pytest.warns(match="no text contains any word"):
        hits = index.search("xyzzy plugh", 3, hybrid=True)
    assert [hit.id for hit in hits] == [hit.id for hit in index.search("xyzzy plugh", 3)]
    vectorless = np.zeros(16, np.float32)
    with pytest.warns(match="the query has no vector"):
        hits = index.search("river", 3, hybrid=True, vector=vectorless)
    assert [hit.id for hit in hits] == [hit.id for hit in index.search("river", 3, lexical=True)]


def test_a_weight_that_makes_no_sense_is_refused() -> None:
    index = build_index(BAG, TEXTS)
    for weight in (-0.1, 1.1, float("nan")):
        with pytest.raises(InvalidArgumentError, match=r"choose from 0 \(meaning alone\) to 1"):
            index.search("river", hybrid=True, weight=weight)
    with pytest.raises(InvalidArgumentError, match="weight is for a hybrid search: set hybrid too"):
        index.search("river", weight=0.5)


def test_an_encoder_that_says_nothing_does_no_harm() -> None:
    texts = many()
    blind = build_index(Noise(), texts)
    assert blind.state.weight >= DEFAULT_WEIGHT
    for text in texts[:10]:
        query = " ".join(text.split()[1:5])
        words = blind.search(query, 1, lexical=True)
        assert blind.search(query, 1, hybrid=True)[0].id == words[0].id


@pytest.mark.parametrize("texts", [["one"], ["a", "b", "c", "d", "e"], ["same"] * 7, ["", "x"]])
def test_tiny_indexes_have_a_weight_and_answer(texts: list[str]) -> None:
    index = build_index(BAG, texts)
    assert 0 < index.state.weight < 1
    assert index.search(texts[-1], hybrid=True)


def test_the_same_texts_give_the_same_weight_and_do_not_warn(
    recwarn: pytest.WarningsRecorder,
) -> None:
    state = build_index(BAG, many()).state
    assert learn_weight(state, BAG) == learn_weight(state, BAG) == state.fusion
    assert not recwarn.list


def test_a_weight_is_kept_renewed_when_much_changed_and_not_before(tmp_path: Path) -> None:
    seen: list[str] = []
    noting = BagOfWords(seen=(seen,))
    index = build_index(noting, many(40), path=tmp_path / "i")
    first = index.state.fusion
    assert first is not None
    assert (first.queries, first.texts, first.changes) == (40, 40, 0)
    assert open_index(tmp_path / "i", noting).state.fusion == first
    seen.clear()
    index.add(["one more text"], ids=["new"])
    assert seen == ["one more text"]
    assert index.state.fusion == replace(first, changes=1)
    index.delete([str(i) for i in range(25)])
    assert index.state.fusion == replace(first, changes=26)
    index.add(["and another"], ids=["newer"])
    again = index.state.fusion
    assert again is not None
    assert (again.queries, again.texts, again.changes) == (17, 17, 0)


def test_an_index_without_a_weight_opens_and_learns_one_when_brought_up_to_date(
    tmp_path: Path,
) -> None:
    path = tmp_path / "i"
    index = build_index(BAG, TEXTS, path=path)
    edit_manifest(path, lambda manifest: manifest.pop("fusion"))
    old = open_index(path, BAG)
    assert old.state.fusion is None
    assert old.search("river", hybrid=True).weight == DEFAULT_WEIGHT
    update_index(path, BAG, [Entry(str(i), text) for i, text in enumerate(TEXTS)])
    assert open_index(path, BAG).state.fusion == index.state.fusion


def test_a_damaged_weight_is_refused(tmp_path: Path) -> None:
    build_index(BAG, TEXTS, path=tmp_path / "i")
    edit_manifest(tmp_path / "i", lambda manifest: manifest["fusion"].update(weight=7))
    with pytest.raises(InvalidFileError, match=r"weight is 7"):
        open_index(tmp_path / "i", BAG)


def test_another_version_of_learning_is_stale() -> None:
    kept = Fusion(weight=0.5, queries=9, texts=10, changes=5)
    assert not kept.is_stale
    assert replace(kept, changes=6).is_stale
    assert replace(kept, version=0).is_stale


def test_the_weight_nearest_to_the_default_is_chosen_among_equals() -> None:
    flat = np.ones((50, len(WEIGHTS)))
    assert choose_weight(flat) == pytest.approx(DEFAULT_WEIGHT)
    rising = np.tile(np.linspace(0.2, 0.9, len(WEIGHTS)), (50, 1))
    assert choose_weight(rising) == pytest.approx(0.9)
    assert choose_weight(rising[:, ::-1]) == pytest.approx(0.1)


def test_pseudo_queries_are_words_of_a_text_or_a_sentence_that_is_held_out() -> None:
    text = "The dam broke in May. Nobody was hurt at all. Water rose to the roofs."
    words, held = make_queries([text, text])
    assert words.rest is None
    assert set(words.query.split()) <= set(text.split())
    assert held.rest is not None
    assert held.query in text
    assert held.query not in held.rest
    assert sorted(f"{held.query} {held.rest}".split()) == sorted(text.split())
    (first, second) = make_queries(["one sentence", "of its own"])
    assert first.rest is None
    assert second.rest is None
    assert [each.query for each in make_queries(["", "x"])] == ["", "x"]


def test_the_spread_of_cosines_is_that_of_different_rows() -> None:
    rows = np.array([[1, 0], [0, 1], [1, 1], [1, -1], [2, 0], [0, 0]], np.float32)
    units = rows[:5] / np.linalg.norm(rows[:5], axis=1, keepdims=True)
    cosines = [float(units[i] @ units[j]) for i in range(5) for j in range(i)]
    assert cosine_spread(rows) == pytest.approx(np.std(cosines), rel=1e-5)
    assert cosine_spread(rows[:2]) == pytest.approx(0.1)
    assert cosine_spread(np.ones((9, 3), np.float32)) == pytest.approx(0.02)


def test_keys_of_vectors_are_searched_by_both_with_the_usual_weight(words: Vectors) -> None:
    hits = build_index(words).search("king", 2, hybrid=True)
    assert hits[0].id == "king"
    assert hits.weight == DEFAULT_WEIGHT


def test_the_command_line_takes_and_prints_the_weight(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "i")
    index = build_index(Vectors(["king", "queen", "stone"], np.eye(3)), path=path)
    assert run(["search", path, "king", "--hybrid"]) == 0
    assert f"weight of words: {index.state.weight:.2f} (default)" in capsys.readouterr().out
    assert run(["search", path, "king", "--hybrid", "--weight", "0.25", "--json"]) == 0
    assert {hit["weight"] for hit in json.loads(capsys.readouterr().out)} == {0.25}
    assert run(["search", path, "king", "--hybrid", "--weight", "2"]) == 1
    assert "weight is 2: choose from 0" in capsys.readouterr().err
    assert run(["inspect", path, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["weight"] == DEFAULT_WEIGHT
    assert facts["learnt from"] == "nothing: the default weight"


@pytest.mark.parametrize("name", ["queries", "texts", "changes", "version"])
def test_counts_of_a_weight_are_numbers(name: str, tmp_path: Path) -> None:
    build_index(BAG, TEXTS, path=tmp_path / "i")
    edit_manifest(tmp_path / "i", lambda manifest: manifest["fusion"].update({name: "many"}))
    with pytest.raises(InvalidFileError, match=f"{name} of its weight is 'many', not a count"):
        open_index(tmp_path / "i", BAG)
