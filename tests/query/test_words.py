"""What a question's words are taken for, and that it is reported."""

from dataclasses import replace

import numpy as np
import pytest

from malmoi import subwords
from malmoi.errors import MissingDependencyError, UnknownWordError
from malmoi.explanation import Explanation
from malmoi.query import directions as words
from malmoi.query.analogy import analogy
from malmoi.query.compare import odd_one_out, rank, similarity
from malmoi.query.directions import resolve_word
from malmoi.query.neighbours import neighbours
from malmoi.reporting.reporter import SilentReporter
from malmoi.subwords import Subwords, SubwordVectors
from malmoi.text.korean import Korean
from malmoi.text.tokenizers import English, describe
from malmoi.typos.noisy_channel import Correction, NewWords, rank_corrections
from malmoi.vectors import Vectors
from tests.recording_reporter import RecordingReporter


def built(keys: list[str], counts: list[int], tokenizer: str = "") -> SubwordVectors:
    """Vectors whose n-grams of letters have a row each, as after a training."""
    random = np.random.default_rng(4)
    cut = Subwords(min_n=2, max_n=3, buckets=1_000_000)
    kept = np.unique([cut.bucket(ngram) for key in keys for ngram in cut.ngrams(key)])
    own = random.normal(size=(len(keys), 6)).astype(np.float32)
    return SubwordVectors(
        keys,  # type: ignore[arg-type]
        own,
        np.array(counts),
        {"tokenizer": tokenizer} if tokenizer else {},
        word_rows=own,
        bucket_rows=random.normal(size=(len(kept), 6)).astype(np.float32),
        subwords=cut,
        kept_buckets=kept.astype(np.int32),
    )


def test_a_word_is_tokenized_as_the_training_text_was_before_it_is_corrected() -> None:
    vectors = built(["재밌", "다", "재밋다", "영화"], [3085, 9000, 40, 5000], describe(Korean()))
    reporter = RecordingReporter()
    found = neighbours(vectors, "재밌다", reporter=reporter)
    (told,) = reporter.explanations
    assert (told.source, told.tokens) == ("tokens", ("재밌", "다"))
    assert told.read_as == {"재밌": 0.5, "다": 0.5}
    assert told.note == (
        "'재밌다' is not in the vectors; read as 재밌 + 다, as its tokenizer splits it"
    )
    assert str(told) == told.note
    assert {one.key for one in found} == {"재밋다", "영화"}  # the tokens are words asked with
    mean = (vectors["재밌"] + vectors["다"]) / 2
    np.testing.assert_allclose(resolve_word(vectors, "재밌다")[0], mean, atol=1e-6)


def test_one_token_that_is_known_answers_too() -> None:
    plain = Vectors(["fishing", "boat", "lake"], np.eye(3), meta={"tokenizer": describe(English())})
    silent = SilentReporter()
    assert similarity(plain, "Fishing!", "fishing", reporter=silent) == pytest.approx(1)
    assert rank(plain, "Fishing", "boat", reporter=silent) == 1
    assert resolve_word(plain, "Fishing")[1].tokens == ("fishing",)


def test_tokens_answer_only_if_all_of_them_are_known() -> None:
    vectors = built(["재밌", "영화"], [30, 50], describe(Korean()))
    assert resolve_word(vectors, "재밌다")[1].source == "n-grams"
    plain = Vectors(["fishing"], np.eye(1), meta={"tokenizer": describe(English())})
    with pytest.raises(UnknownWordError):
        resolve_word(plain, "fishing boat")
    with pytest.raises(UnknownWordError):
        resolve_word(plain, "!?")


def test_that_the_tokenizer_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(description: str) -> English:
        raise MissingDependencyError("kiwipiepy is not installed: pip install 'malmoi[korean]'")

    monkeypatch.setattr(words, "_tokenizer", missing)
    vectors = built(["재밌", "다", "영화", "재밌게"], [30, 90, 50, 20], "some")
    vector, told = resolve_word(vectors, "재밌다")
    assert told.source == "n-grams"
    assert vector.tolist() == vectors["재밌다"].tolist()
    assert "could not be split as the training text was: kiwipiepy is not installed" in told.note
    with pytest.raises(UnknownWordError, match="kiwipiepy is not installed"):
        resolve_word(Vectors(["재밌", "다"], np.eye(2), meta={"tokenizer": "some"}), "재밌다")


@pytest.mark.parametrize("description", ["no JSON", "[]", '{"name": "no such tokenizer"}'])
def test_a_damaged_description_of_a_tokenizer_is_said(description: str) -> None:
    vectors = built(["재밌", "다", "영화", "재밌게"], [30, 90, 50, 20], description)
    assert "tokenizer" in resolve_word(vectors, "재밌다")[1].note


def test_a_word_of_which_hardly_any_ngram_is_known_is_refused() -> None:
    vectors = built(["전투", "전쟁", "xylo"], [500, 400, 300])
    assert len(vectors.explain("xyzzy").ngrams) == 3
    assert vectors.explain("xyzzy").note == (
        "'xyzzy' is not in the vectors; built from 3 of its 11 n-grams"
    )
    with pytest.raises(UnknownWordError, match="the vectors, which know only 3 of its 11 n-grams"):
        neighbours(vectors, "xyzzy")
    assert len(neighbours(vectors, vectors["xyzzy"])) == 3  # whoever insists
    assert (
        len(neighbours(replace(vectors, least_known=0.0), "xyzzy", reporter=SilentReporter())) == 3
    )
    assert vectors.query_vector("xyzzy").tolist() == vectors["xyzzy"].tolist()


def test_ngrams_that_buckets_hit_by_chance_do_not_count() -> None:
    vectors = built(["전투", "전쟁", "xylo"], [500, 400, 300])
    told = Explanation("abcdefgh", "n-grams", ("a",) * 8, all_ngrams=20)
    assert not vectors.is_guess(told)
    crowded = replace(
        vectors, subwords=replace(vectors.subwords, buckets=3 * len(vectors.bucket_rows))
    )
    assert crowded.is_guess(told)
    assert not crowded.is_guess(replace(told, ngrams=("a",) * 12))
    full = replace(vectors, subwords=replace(vectors.subwords, buckets=len(vectors.bucket_rows)))
    assert not full.is_guess(told)


def test_what_is_read_as_another_word_is_reported_with_both_readings() -> None:
    vectors = built(["government", "city", "river"], [5000, 400, 300])
    reporter = RecordingReporter()
    assert neighbours(vectors, ["goverment", "city"], reporter=reporter)[0][0].key == ("government")
    (told,) = reporter.explanations
    assert told.source == "typo"
    assert list(told.read_as) == ["government"]
    assert "perhaps government (" in told.note
    assert ", or a new word (" in told.note
    analogy(vectors, "goverment - city + rivers", reporter=reporter)
    similarity(vectors, "goverment", "city", reporter=reporter)
    odd_one_out(vectors, ["goverment", "city", "river"], reporter=reporter)
    assert [one.word for one in reporter.explanations[1:]] == [
        "goverment",
        "rivers",
        "goverment",
        "goverment",
    ]


def test_corrections_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(vectors: Vectors, word: str, new: NewWords) -> list[Correction]:
        asked.append(word)
        return rank_corrections(vectors, word, new)

    monkeypatch.setattr(subwords, "rank_corrections", counted)
    vectors = built(["government", "city", "river"], [5000, 400, 300])
    neighbours(vectors, ["goverment", "city"], reporter=RecordingReporter())
    assert asked == ["goverment"]
