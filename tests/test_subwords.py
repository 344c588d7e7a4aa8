"""Words never seen: their n-grams, hashes and vectors, as fastText has them."""

import time
import unicodedata
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.errors import InvalidArgumentError, UnknownWordError
from malmoi.subwords import MAX_WORD_CHARS, Subwords, SubwordVectors, fasttext_hash
from tests import naive


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 2166136261),
        ("a", 3826002220),
        ("king", 3658736598),
        ("한국", 1801725635),
        ("<한국>", 1537658345),
    ],
)
def test_the_hash_is_of_signed_bytes(text: str, value: int) -> None:
    assert fasttext_hash(text.encode()) == value
    assert naive.fasttext_hash(text.encode()) == value


@given(st.binary(max_size=20))
def test_hashes_are_those_of_the_twin(text: bytes) -> None:
    assert fasttext_hash(text) == naive.fasttext_hash(text)


@pytest.mark.parametrize(
    ("word", "shortest", "longest", "ngrams"),
    [
        ("한국", 2, 3, "<한 <한국 한국 한국> 국>"),
        ("eating", 3, 3, "<ea eat ati tin ing ng>"),
        ("as", 3, 6, "<as <as> as>"),
        ("a", 1, 2, "<a a a>"),
        ("각", 3, 3, "<각>"),
        ("</s>", 1, 6, ""),
        ("eating", 3, 0, ""),
        ("eating", 9, 9, ""),
        ("", 2, 3, "<>"),
    ],
)
def test_ngrams_of_a_word(word: str, shortest: int, longest: int, ngrams: str) -> None:
    subwords = Subwords(min_n=shortest, max_n=longest)
    assert [ngram.decode() for ngram in subwords.ngrams(word)] == ngrams.split()


def test_ngrams_of_eating_from_three_to_six() -> None:
    ngrams = [ngram.decode() for ngram in Subwords(min_n=3, max_n=6).ngrams("eating")]
    threes, fours = "<ea eat ati tin ing ng>", "<eat eati atin ting ing>"
    fives, sixes = "<eati eatin ating ting>", "<eatin eating ating>"
    assert sorted(ngrams) == sorted(f"{threes} {fours} {fives} {sixes}".split())


def test_ngrams_longer_than_the_word_cost_nothing() -> None:
    boundless = Subwords(min_n=3, max_n=5_000_000)  # as a damaged file may have it
    begin = time.process_time()
    assert boundless.ngrams("eating") == Subwords(min_n=3, max_n=8).ngrams("eating")
    assert time.process_time() - begin < 10  # it would take minutes


@given(st.text(max_size=8), st.integers(1, 4), st.integers(0, 3))
def test_ngrams_are_those_of_the_twin(word: str, shortest: int, more: int) -> None:
    subwords = Subwords(min_n=shortest, max_n=shortest + more)
    encoded = word.encode("utf-8")
    assert subwords.ngrams(word) == naive.ngrams(encoded, shortest, shortest + more)


def test_unseen_word_is_the_mean_of_its_ngrams(subworded: SubwordVectors) -> None:
    for word in ("eater", "한국말", "é", "x"):
        buckets = [subworded.subwords.bucket(ngram) for ngram in subworded.subwords.ngrams(word)]
        assert word not in subworded
        np.testing.assert_allclose(
            subworded.vector(word), subworded.bucket_rows[buckets].mean(axis=0), atol=1e-6
        )
        assert subworded[[word]].tolist() == [subworded.vector(word).tolist()]


def test_seen_word_has_its_finished_row(subworded: SubwordVectors) -> None:
    for row, word in enumerate(subworded):
        assert subworded.vector(word).tolist() == subworded.matrix[row].tolist()


def test_unseen_word_is_composed_before_it_is_cut(subworded: SubwordVectors) -> None:
    apart = unicodedata.normalize("NFD", "한국말")
    assert apart != "한국말"
    assert subworded.vector(apart).tolist() == subworded.vector("한국말").tolist()


def test_word_without_ngrams_is_unknown_never_zero(subworded: SubwordVectors) -> None:
    long = replace(subworded, subwords=Subwords(min_n=9, max_n=9, buckets=40))
    with pytest.raises(UnknownWordError, match="'eater'"):
        long.vector("eater")
    with pytest.raises(UnknownWordError):
        long[["eating", "eater"]]
    with pytest.raises(UnknownWordError):
        subworded.take(np.array([1])).vector("</s>")


def test_pruned_model_answers_from_the_ngrams_it_kept(subworded: SubwordVectors) -> None:
    cut = subworded.subwords
    buckets = sorted({cut.bucket(ngram) for ngram in cut.ngrams("eater")})[:2]
    pruned = replace(
        subworded,
        bucket_rows=subworded.bucket_rows[buckets],
        kept_buckets=np.array(buckets, np.int32),
    )
    rows = [cut.bucket(ngram) for ngram in cut.ngrams("eater") if cut.bucket(ngram) in buckets]
    np.testing.assert_allclose(
        pruned.vector("eater"), subworded.bucket_rows[rows].mean(axis=0), atol=1e-6
    )
    nothing = replace(
        subworded, bucket_rows=subworded.bucket_rows[:0], kept_buckets=np.empty(0, np.int32)
    )
    assert nothing.explain("eater").source == "nothing"
    with pytest.raises(UnknownWordError):
        nothing.vector("eater")


def test_ngrams_that_were_never_learnt_say_nothing(subworded: SubwordVectors) -> None:
    learnt = {b"<ea", b"eat"}
    rows = {subworded.subwords.bucket(ngram) for ngram in learnt}
    ngrams = subworded.bucket_rows.copy()
    ngrams[[row for row in range(len(ngrams)) if row not in rows]] = 0
    some = replace(subworded, bucket_rows=ngrams)
    assert set(some.explain("eaten").ngrams) >= {"<ea", "eat"}
    assert np.linalg.norm(some["eaten"]) > 0
    none = replace(subworded, bucket_rows=np.zeros_like(ngrams))
    assert none.explain("eaten").source == "nothing"
    with pytest.raises(UnknownWordError):
        none["eaten"]


def test_explanation_says_which_step_answers(subworded: SubwordVectors) -> None:
    assert subworded.explain("한국").source == "own row"
    assert str(subworded.explain("한국")) == "'한국' has a row of its own"
    built = subworded.explain("국")
    assert (built.source, built.ngrams) == ("n-grams", ("<국", "<국>", "국>"))
    assert "<국, <국>, 국>" in str(built)
    nothing = subworded.take(np.array([1])).explain("</s>")
    assert (nothing.source, nothing.ngrams) == ("nothing", ())


def test_what_is_meant_by_a_known_word_is_its_row(subworded: SubwordVectors) -> None:
    assert subworded.query_vector("eating").tolist() == subworded["eating"].tolist()


def test_far_from_all_words_a_new_one_is_meant(subworded: SubwordVectors) -> None:
    assert subworded.query_vector("eater").tolist() == subworded.vector("eater").tolist()
    assert subworded.explain("eater").corrections == ()


def test_what_is_meant_by_a_typo_is_the_mean_of_near_words_by_their_shares(
    subworded: SubwordVectors,
) -> None:
    few = replace(subworded, counts=np.array([9, 700_000, 500_000, 3, 1]))
    for word in ("eatin", "eatimg", "eatsing"):
        told = few.explain(word)
        shares = {one.word: one.share for one in told.corrections}
        assert told.source == "typo"
        assert 0.5 < sum(shares.values()) < 1
        mean = sum(share * few[corrections] for corrections, share in shares.items()) / sum(
            shares.values()
        )
        np.testing.assert_allclose(few.query_vector(word), mean, atol=1e-6)
        assert few[word].tolist() == few.vector(word).tolist()  # fastText's, as ever


def test_near_words_that_are_less_likely_do_not_change_the_vector(
    subworded: SubwordVectors,
) -> None:
    rare = replace(subworded, counts=np.array([10**6, 10**6, 10**6, 2, 1]))
    told = rare.explain("하국")
    assert 0 < sum(one.share for one in told.corrections) < 0.5
    assert told.source == "n-grams"
    assert "perhaps 한국 (" in told.note
    assert rare.query_vector("하국").tolist() == rare.vector("하국").tolist()


def test_near_words_alone_answer_where_no_ngram_is_known(subworded: SubwordVectors) -> None:
    none = replace(subworded, bucket_rows=np.zeros_like(subworded.bucket_rows))
    told = none.explain("eatimg")
    assert (told.source, told.ngrams, [one.word for one in told.corrections]) == (
        "typo",
        (),
        ["eating"],
    )
    np.testing.assert_allclose(none.query_vector("eatimg"), none["eating"], atol=1e-6)
    with pytest.raises(UnknownWordError):
        none["eatimg"]
    for word in ("eater", "han"):
        rare = replace(none, subwords=Subwords(min_n=9, max_n=9, buckets=40))
        assert rare.explain(word).source == "nothing"
        with pytest.raises(UnknownWordError):
            rare.query_vector(word)


def test_explanation_tells_near_words_with_their_shares(subworded: SubwordVectors) -> None:
    few = replace(
        subworded, bucket_rows=np.where(subworded.bucket_rows > 1.5, subworded.bucket_rows, 0)
    )
    told = few.explain("eatimg")
    share = told.corrections[0].share
    assert told.source == ("typo" if share > 0.5 else "n-grams")
    assert f"'eatimg' was never seen; eating ({share:.0%}) or a new word built from" in str(told)


def test_a_part_of_the_words_answers_unseen_words_alike(subworded: SubwordVectors) -> None:
    part = subworded[1:3]
    assert isinstance(part, SubwordVectors)
    assert part.vector("eater").tolist() == subworded.vector("eater").tolist()
    assert part.word_rows.tolist() == subworded.word_rows[1:3].tolist()
    assert part.context_matrix is None


def test_word_that_the_models_encoding_lacks_is_unknown(subworded: SubwordVectors) -> None:
    czech = replace(subworded, subwords=replace(subworded.subwords, encoding="cp852"))
    assert czech.explain("příliš").source == "n-grams"
    assert czech.subwords.ngrams("ř")[0] == b"<\xfd"
    with pytest.raises(UnknownWordError):
        czech.vector("강아지")
    assert czech.explain("강아지").source == "nothing"


@pytest.mark.parametrize(
    "settings",
    [{"min_n": 0}, {"min_n": 4, "max_n": 3}, {"buckets": 0}, {"encoding": "no-such"}],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        Subwords(**settings)


def test_rows_of_another_shape_are_refused(subworded: SubwordVectors) -> None:
    with pytest.raises(InvalidArgumentError, match="bucket_rows are"):
        replace(subworded, bucket_rows=subworded.bucket_rows[1:])
    with pytest.raises(InvalidArgumentError, match="word_rows are"):
        replace(subworded, word_rows=subworded.word_rows[1:])


def test_what_is_too_long_to_be_a_word_has_no_ngrams() -> None:
    subwords = Subwords()
    assert subwords.ngrams("a" * MAX_WORD_CHARS)
    assert subwords.ngrams("a" * (MAX_WORD_CHARS + 1)) == []
