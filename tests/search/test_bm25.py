import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.search.analyser import Analyser
from malmoi.search.querying.bm25 import score_words
from malmoi.search.storage.postings import count_words, join_postings
from tests.search.worlds import TEXTS, naive_bm25

words = st.lists(st.sampled_from("abcdef"), max_size=8)


@given(st.lists(words, min_size=1, max_size=12), words)
def test_scores_equal_the_textbook(texts: list[list[str]], query: list[str]) -> None:
    if not any(texts):
        return
    scores = score_words([count_words(texts)], [np.ones(len(texts), bool)], query)
    np.testing.assert_allclose(scores, naive_bm25(texts, query), rtol=1e-5, atol=1e-6)


@given(st.lists(words, min_size=2, max_size=12), words, st.integers(0, 2**32))
def test_segments_and_dead_rows_change_no_score(
    texts: list[list[str]], query: list[str], seed: int
) -> None:
    random = np.random.default_rng(seed)
    alive = random.random(len(texts)) < 0.7
    cut = int(random.integers(len(texts)))
    living = [words for words, lives in zip(texts, alive, strict=True) if lives]
    if not any(living):
        return
    expected = naive_bm25(living, query)
    parts = [count_words(texts[:cut]), count_words(texts[cut:])]
    scores = score_words(parts, [alive[:cut], alive[cut:]], query)
    np.testing.assert_allclose(scores[alive], expected, rtol=1e-5, atol=1e-6)
    kept = [np.flatnonzero(alive[:cut]), np.flatnonzero(alive[cut:])]
    joined = join_postings(list(zip(parts, kept, strict=True)))
    everything = [np.ones(len(living), bool)]
    np.testing.assert_allclose(
        score_words([joined], everything, query), expected, rtol=1e-5, atol=1e-6
    )


def test_scores_equal_bm25s() -> None:
    bm25s = pytest.importorskip("bm25s")
    texts = [Analyser("bigrams")(text) for text in TEXTS]
    peer = bm25s.BM25(method="lucene", k1=1.2, b=0.75, dtype="float64")
    peer.index(texts, show_progress=False)
    query = ["interest", "bank", "서울", "2019", "the"]
    ours = score_words([count_words(texts)], [np.ones(len(texts), bool)], query)
    np.testing.assert_allclose(ours, peer.get_scores(query), rtol=1e-5)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The H1N1's 1,000 users, 3.5%!", ["the", "h1n1", "s", "1000", "user", "3.5"]),
        ("Ponies, virus, glass, shoes", ["pony", "virus", "glass", "shoe"]),
        ("iPhone을 3월에", ["iphone", "을", "3", "월에"]),
        ("한국어 책", ["한국", "국어", "책"]),
        ("", []),
    ],
)
def test_words_without_the_extra(text: str, expected: list[str]) -> None:
    assert Analyser("bigrams")(text) == expected


def test_korean_words_are_morphemes_without_particles() -> None:
    pytest.importorskip("kiwipiepy")
    analyser = Analyser("morphemes")
    assert analyser("서울에서 기타를 쳤다") == ["서울", "기타", "치"]
    assert analyser("iPhone을 3월에 샀다") == ["iphone", "3", "월", "사"]
    texts = ["river bank", "서울은 수도", "", "수도의 서울"]
    assert list(analyser.many(texts)) == [analyser(text) for text in texts]
