import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from malmoi.errors import InvalidArgumentError, UnknownWordError
from malmoi.formats import load, save
from malmoi.hangul import split_jamo
from malmoi.query.compare import similarity
from malmoi.subwords import SubwordVectors, Units
from malmoi.train.common import memory
from malmoi.train.common.options import TrainOptions
from malmoi.train.word2vec import trainer as word_learning
from malmoi.train.word2vec.fasttext import FastText, train_fasttext
from malmoi.train.word2vec.word2vec import Word2Vec, train_word2vec
from malmoi.vectors import Vectors
from tests.train.worlds import lines

SMALL = FastText(dim=20, window=3, epochs=8, min_count=1, subsample=0, buckets=5000)
KOREAN = ["강아지 고양이 망아지 송아지", "사과 배추 감자 고구마", "고양이 강아지 토끼"] * 60
EVERY_UNIT = pytest.mark.parametrize("units", ["characters", "syllables", "jamo", "jamo+syllables"])


@pytest.fixture(autouse=True)
def _many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_learning, "CHUNK_TOKENS", 500)


@EVERY_UNIT
def test_a_seen_word_is_the_mean_of_its_rows(units: Units) -> None:
    vectors = train_fasttext(KOREAN, replace(SMALL, units=units))
    for word in ("강아지", "배추"):
        ngrams = [row for _, row in vectors._known(vectors._ngrams(word))]
        assert len(ngrams) == len(vectors.subwords.ngrams(word))  # all of them have a row
        rows = np.vstack([vectors.word_rows[vectors.row(word)], vectors.bucket_rows[ngrams]])
        np.testing.assert_allclose(vectors[word], rows.mean(axis=0), atol=1e-6)


@pytest.mark.filterwarnings("ignore::malmoi.errors.MalmoiWarning")  # of unseen words
@EVERY_UNIT
def test_a_typo_is_near_the_word_and_explained(units: Units) -> None:
    vectors = train_fasttext(KOREAN, replace(SMALL, units=units, epochs=20))
    vectors = replace(vectors, least_known=0.3)  # of syllables it knows 3 n-grams of 10
    assert similarity(vectors, "강아지들", "강아지") > similarity(vectors, "강아지들", "배추")
    assert vectors.explain("강아지").source == "own row"
    told = vectors.explain("강아지들")
    assert told.source == "n-grams"
    assert set(told.ngrams) <= {ngram.decode() for ngram in vectors.subwords.ngrams("강아지들")}


@pytest.mark.filterwarnings("ignore::malmoi.errors.MalmoiWarning")  # of unseen words
def test_with_jamo_a_wrong_vowel_is_answered_where_syllables_are_not() -> None:
    by_letters, by_jamo = (
        train_fasttext(KOREAN, replace(SMALL, units=units, epochs=80))
        for units in ("characters", "jamo")
    )
    with pytest.raises(UnknownWordError):
        by_letters["강애자"]
    assert similarity(by_jamo, "강애자", "강아지") > similarity(by_jamo, "강애자", "감자")


def test_nothing_is_answered_from_rows_that_were_never_trained() -> None:
    vectors = train_fasttext(lines(), replace(SMALL, buckets=2_000_000))
    with pytest.raises(UnknownWordError):
        vectors["zzzzqqqq"]
    assert vectors.explain("zzzzqqqq").source == "nothing"


def test_one_thread_and_a_seed_give_the_same_bits() -> None:
    one, other = (train_fasttext(lines(), replace(SMALL, threads=1)) for _ in range(2))
    np.testing.assert_array_equal(one.matrix, other.matrix)
    np.testing.assert_array_equal(one.bucket_rows, other.bucket_rows)


def test_without_ngrams_it_is_word2vec() -> None:
    shared = {"dim": 20, "window": 3, "epochs": 2, "min_count": 1, "threads": 1}
    words = train_word2vec(lines(), Word2Vec(**shared, learning_rate=0.04))  # type: ignore[arg-type]
    same = FastText(**shared, learning_rate=0.04, max_n=0)  # type: ignore[arg-type]
    np.testing.assert_array_equal(train_fasttext(lines(), same).matrix, words.matrix)


@EVERY_UNIT
def test_our_own_file_keeps_everything(units: Units, tmp_path: Path) -> None:
    vectors = train_fasttext(KOREAN, replace(SMALL, units=units))
    save(vectors, tmp_path / "x.malmoi")
    again = load(tmp_path / "x.malmoi")
    assert isinstance(again, SubwordVectors)
    assert again.subwords == vectors.subwords
    for word in ("강아지", "강아지들"):
        np.testing.assert_array_equal(again[word], vectors[word])


@pytest.mark.parametrize("units", ["characters", "jamo"])
def test_fasttext_and_gensim_open_the_model(units: Units, tmp_path: Path) -> None:
    fasttext = pytest.importorskip("fasttext")
    gensim = pytest.importorskip("gensim.models.fasttext")
    vectors = train_fasttext(KOREAN, replace(SMALL, units=units))
    path = tmp_path / "x.bin"
    save(vectors, path)
    original, theirs = fasttext.load_model(str(path)), gensim.load_facebook_model(str(path)).wv
    for word in ("강아지", "배추"):
        form = split_jamo(word) if units == "jamo" else word
        np.testing.assert_allclose(original.get_word_vector(form), vectors[word], atol=1e-6)
        np.testing.assert_allclose(theirs[form], vectors[word], atol=1e-6)
    unseen = split_jamo("강아지들") if units == "jamo" else "강아지들"
    answer, ours = original.get_word_vector(unseen), vectors["강아지들"]
    cosine = answer @ ours / np.linalg.norm(answer) / np.linalg.norm(ours)
    assert cosine == pytest.approx(1, abs=1e-5)  # rows of zeros change the length alone


@pytest.mark.parametrize("units", ["syllables", "jamo+syllables"])
def test_what_fasttext_cannot_say_is_not_written_for_it(units: Units, tmp_path: Path) -> None:
    vectors = train_fasttext(KOREAN, replace(SMALL, units=units))
    with pytest.raises(InvalidArgumentError, match="cannot hold n-grams"):
        save(vectors, tmp_path / "x.bin")


def test_an_update_goes_on_with_words_and_ngrams(tmp_path: Path) -> None:
    save(train_fasttext(KOREAN, SMALL), tmp_path / "old.malmoi")
    old = load(tmp_path / "old.malmoi")
    new = train_fasttext(
        ["망아지 하마 강아지 기린"] * 40, SMALL, options=TrainOptions(init_vectors=old, update=True)
    )
    assert {"하마", "기린", "배추"} <= set(new.keys)
    assert isinstance(old, SubwordVectors)
    np.testing.assert_array_equal(new["배추"], old["배추"])
    still = replace(SMALL, learning_rate=1e-12, min_learning_rate=0)
    same = train_fasttext(KOREAN, still, options=TrainOptions(init_vectors=old, update=True))
    np.testing.assert_allclose(same.matrix, old.matrix, atol=1e-6)
    with pytest.raises(InvalidArgumentError, match="have other n-grams"):
        train_fasttext(
            KOREAN,
            replace(SMALL, units="jamo"),
            options=TrainOptions(init_vectors=old, update=True),
        )


def test_words_begin_with_plain_vectors_as_they_are() -> None:
    plain = train_word2vec(KOREAN, Word2Vec(dim=20, min_count=1, subsample=0))
    still = replace(SMALL, learning_rate=1e-12, min_learning_rate=0)
    begun = train_fasttext(KOREAN, still, options=TrainOptions(init_vectors=plain))
    for word in plain:
        np.testing.assert_allclose(begun[word], plain[word], atol=1e-5)
    own = begun.word_rows[begun.row("강아지")]
    assert not np.allclose(own, plain["강아지"], atol=1e-2)  # the n-grams have their part


def test_more_buckets_than_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 10**6)
    with pytest.raises(InvalidArgumentError, match=r"needs 2,000 MB of memory .* fewer buckets"):
        train_fasttext(KOREAN, replace(SMALL, buckets=400_000_000))


@pytest.mark.parametrize("longest", [0, 2_000_000_000])
def test_ngrams_of_any_length_or_none_are_opened_by_gensim(longest: int, tmp_path: Path) -> None:
    gensim = pytest.importorskip("gensim.models.fasttext")
    path = tmp_path / "x.bin"
    vectors = train_fasttext(KOREAN, replace(SMALL, max_n=longest))
    save(vectors, path)
    again = load(path)
    np.testing.assert_allclose(again["강아지"], vectors["강아지"], atol=1e-6)
    if not longest:
        assert path.stat().st_size < 10_000  # no rows for 5,000 buckets
        theirs = gensim.load_facebook_model(str(path)).wv
        np.testing.assert_allclose(theirs["강아지"], vectors["강아지"], atol=1e-6)


@EVERY_UNIT
def test_no_ngrams_are_none_in_any_unit(units: Units) -> None:
    vectors = train_fasttext(KOREAN, replace(SMALL, max_n=0, units=units))
    assert len(vectors.bucket_rows) == 0
    np.testing.assert_array_equal(vectors.word_rows, vectors.matrix)


def test_frozen_words_keep_their_vectors() -> None:
    start = Vectors(["강아지", "사과"], np.eye(2, 20))
    vectors = train_fasttext(KOREAN, SMALL, options=TrainOptions(init_vectors=start, freeze=True))
    for word in start:
        np.testing.assert_array_equal(vectors[word], start[word])


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_n": 0},
        {"min_n": 5, "max_n": 4},
        {"buckets": 0},
        {"units": "morphemes"},
        {"units": "syllables", "syllables": (3, 2)},
        {"max_n": 10**10},
        {"buckets": 3_000_000_000},
    ],
)
def test_cuts_that_cannot_be_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError):
        FastText(**wrong)  # type: ignore[arg-type]


def test_a_word_of_one_letter_many_times_over_is_learnt() -> None:
    lines_with = [f"{line} {'ㅋ' * 300}" for line in KOREAN]
    vectors = train_fasttext(lines_with, replace(SMALL, epochs=20))
    losses = json.loads(vectors.meta["losses"])
    assert losses[-1] < losses[0]
    assert np.abs(vectors.matrix).max() < 10
