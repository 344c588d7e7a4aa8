"""Averaged word vectors are what papers and scikit-learn say they are."""

import math
import unicodedata
from pathlib import Path
from pickle import dumps, loads

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from malmoi.arrays import Float32Array
from malmoi.encode.static.average import AverageEncoder, average_encoder
from malmoi.errors import InvalidArgumentError, MalmoiWarning
from malmoi.formats import load
from malmoi.subwords import SubwordVectors
from malmoi.text.tokenizers import English, Whitespace, describe
from malmoi.vectors import Vectors
from tests.recording_reporter import RecordingReporter

WORDS = ["the", "a", "bank", "river", "fish", "robber", "한국", "말"]
COUNTS = [900, 400, 90, 50, 20, 9, 6, 1]
TEXTS = ["the bank", "a river a bank", "fish", "the robber the fish river", "한국 말 the", "말"]


def vectors(counts: list[int] | None = COUNTS) -> Vectors:
    matrix = np.random.default_rng(3).normal(1, 1, size=(len(WORDS), 6))
    return Vectors(WORDS, matrix, counts)


def naive(held: Vectors, texts: list[str], weight: dict[str, float]) -> Float32Array:
    rows = [[weight[word] * held[word] for word in text.split()] for text in texts]
    return np.array([np.mean(row, axis=0) for row in rows])


def sif_weights(shares: dict[str, float], a: float = 1e-3) -> dict[str, float]:
    return {word: a / (a + share) for word, share in shares.items()}


def test_the_plain_mean() -> None:
    held = vectors()
    found = average_encoder(held, weighting="mean").encode(TEXTS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, naive(held, TEXTS, dict.fromkeys(WORDS, 1.0)), atol=1e-6)


def test_sif_is_what_the_paper_defines() -> None:
    held = vectors()
    shares = {word: count / sum(COUNTS) for word, count in zip(WORDS, COUNTS, strict=True)}
    averages = naive(held, TEXTS, sif_weights(shares))
    np.testing.assert_allclose(average_encoder(held).encode(TEXTS), averages, atol=1e-6)

    learnt_from, asked = TEXTS[:4], TEXTS
    first = naive(held, learnt_from, sif_weights(shares))
    svd = TruncatedSVD(n_components=1, algorithm="arpack", random_state=0).fit(first)
    direction = svd.components_[0]
    expected = averages - np.outer(averages @ direction, direction)
    found = average_encoder(held, texts=learnt_from).encode(asked)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_without_counts_frequency_goes_by_the_order_of_rows() -> None:
    held = vectors(None)
    total = sum(1 / rank for rank in range(1, len(WORDS) + 1))
    shares = {word: 1 / rank / total for rank, word in enumerate(WORDS, start=1)}
    encoder = average_encoder(held, smoothing=0.01)
    expected = naive(held, TEXTS, sif_weights(shares, 0.01))
    np.testing.assert_allclose(encoder.encode(TEXTS), expected, atol=1e-6)
    assert repr(encoder) == "AverageEncoder(vectors, 8 words × 6, sif by the order of the rows)"
    by_idf = average_encoder(held, weighting="idf").encode(TEXTS)
    informative = {word: -math.log(share) for word, share in shares.items()}
    np.testing.assert_allclose(by_idf, naive(held, TEXTS, informative), atol=1e-5)


def test_idf_of_texts_is_that_of_scikit_learn() -> None:
    held = vectors()
    learnt_from = [*TEXTS, "the bank the bank"]
    peer = TfidfVectorizer(norm=None, tokenizer=str.split, token_pattern=None)
    peer.fit(learnt_from)
    table = np.array([held[word] for word in peer.get_feature_names_out()])
    sizes = np.array([[len(text.split())] for text in TEXTS])
    expected = peer.transform(TEXTS).toarray() @ table / sizes
    found = average_encoder(held, weighting="idf", texts=learnt_from).encode(TEXTS)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_texts_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    by_file = average_encoder(vectors(), texts=tmp_path / "texts.txt").encode(TEXTS)
    np.testing.assert_array_equal(by_file, average_encoder(vectors(), texts=TEXTS).encode(TEXTS))


def test_unknown_words_are_ignored_and_reported() -> None:
    encoder = average_encoder(vectors(), weighting="mean", name="mine")
    with pytest.warns(MalmoiWarning) as told:
        found = encoder.encode(["the qwerty bank", "qwerty zxcv", ""])
    np.testing.assert_allclose(found[0], (vectors()["the"] + vectors()["bank"]) / 2, atol=1e-6)
    assert not found[1:].any()
    assert [str(note.message) for note in told] == [
        "mine: 3 of 5 words are unknown and were ignored, such as qwerty, zxcv",
        "mine: 2 of 3 texts have no known word: their vectors are zeros",
    ]


def test_subwords_answer_for_unseen_words(subworded: SubwordVectors) -> None:
    encoder = average_encoder(subworded, weighting="mean", tokenizer="whitespace")
    found = encoder.encode(["eating eatable", "한국말"])
    both = (subworded["eating"] + subworded["eatable"]) / 2
    np.testing.assert_allclose(found, np.stack([both, subworded["한국말"]]), atol=1e-6)
    rare = average_encoder(subworded, tokenizer="whitespace").encode(["eatable"])
    np.testing.assert_allclose(rare, [subworded["eatable"]], atol=1e-6)  # p = 0, so its weight is 1


def test_hangul_in_its_letters_is_found() -> None:
    encoder = average_encoder(vectors())
    apart = [unicodedata.normalize("NFD", text) for text in TEXTS]
    np.testing.assert_array_equal(encoder.encode(apart), encoder.encode(TEXTS))
    held = Vectors([unicodedata.normalize("NFD", word) for word in WORDS], vectors().matrix, COUNTS)
    found = average_encoder(held, tokenizer="whitespace").encode(TEXTS)
    np.testing.assert_array_equal(found, encoder.encode(TEXTS))


@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1).map(" ".join), max_size=9))
def test_vectors_do_not_depend_on_what_is_asked_beside(texts: list[str]) -> None:
    encoder = average_encoder(vectors(), tokenizer="whitespace")
    alone = [encoder.encode([text])[0] for text in texts]
    np.testing.assert_allclose(encoder.encode(texts), np.reshape(alone, (-1, 6)), atol=1e-6)


def test_a_long_text_is_summed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malmoi.encode.static.average.BLOCK_WORDS", 4)
    monkeypatch.setattr("malmoi.encode.static.average.CHUNK_TEXTS", 3)
    encoder, texts = average_encoder(vectors(), weighting="mean"), [*TEXTS, "the bank " * 11]
    expected = naive(vectors(), texts, dict.fromkeys(WORDS, 1.0))
    reporter = RecordingReporter()
    np.testing.assert_allclose(encoder.encode(texts, reporter=reporter), expected, atol=1e-6)
    assert reporter.progress == [(3, 7), (6, 7), (7, 7)]
    assert encoder.encode(iter([])).shape == (0, 6)


def trained_with(tokenizer: str) -> Vectors:
    return vectors().with_meta(tokenizer=tokenizer)


def test_texts_are_tokenized_as_the_vectors_were_trained() -> None:
    assert average_encoder(trained_with(describe(Whitespace()))).tokenizer == Whitespace()
    assert average_encoder(vectors()).tokenizer == English()
    assert average_encoder(vectors(), tokenizer="syllables").tokenizer.name == "syllables"
    cased = Vectors(["The", ".", "'s"], np.eye(3))
    assert average_encoder(cased).tokenizer == English(lower=False, marks=True, clitics=True)
    with pytest.raises(
        InvalidArgumentError, match="names the unknown tokenizer 'by hand': pass one"
    ):
        average_encoder(trained_with("by hand"))


def test_vectors_of_korean_morphemes_are_told_by_their_particles() -> None:
    pytest.importorskip("kiwipiepy")
    words = ["은", "는", "을", "를", "에서", "학교", "가", "다"]
    encoder = average_encoder(Vectors(words, np.eye(8)), weighting="mean")
    assert encoder.tokenizer.name == "korean"
    with pytest.warns(MalmoiWarning, match="unknown"):
        found = encoder.encode(["학교에서 잠을"])
    np.testing.assert_allclose(found[0] * 3, np.eye(8)[[2, 4, 5]].sum(axis=0), atol=1e-6)


def test_real_vectors_know_what_is_alike() -> None:
    encoder = average_encoder(load("glove-6b-50d"), name="glove-6b-50d")
    assert isinstance(encoder, AverageEncoder)
    rows = encoder.encode(["A man's dog doesn't bark.", "My dog barks!", "Stocks fell on Monday."])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weighting": "heavy"}, "weighting must be one of mean, idf, sif; got 'heavy'"),
        ({"tokenizer": "scissors"}, "unknown tokenizer 'scissors'"),
        ({"smoothing": 0}, "smoothing is 0: it must be more than 0"),
        ({"texts": ["qwerty"]}, "texts to learn SIF from have no known word"),
    ],
)
def test_invalid_arguments(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        average_encoder(vectors(), **settings)  # type: ignore[arg-type]


def test_only_texts_are_texts() -> None:
    encoder = average_encoder(vectors())
    assert encoder.encode("the bank").tolist() == encoder.encode(["the bank"])[0].tolist()
    with pytest.raises(
        InvalidArgumentError, match="is a pair of texts, which only transformers take"
    ):
        encoder.encode([("the", "bank")])
    with pytest.raises(InvalidArgumentError, match=r"text number 1 is 7 \(int\): pass a string"):
        encoder.encode([7])  # type: ignore[list-item]


def test_no_vectors_have_no_average() -> None:
    with pytest.raises(InvalidArgumentError, match="vectors contains no vectors to average"):
        average_encoder(Vectors([], np.empty((0, 3))))


def test_an_encoder_can_be_sent_to_another_process() -> None:
    encoder = average_encoder(vectors(), texts=TEXTS)
    expected = encoder.encode(TEXTS)
    np.testing.assert_array_equal(loads(dumps(encoder)).encode(TEXTS), expected)
