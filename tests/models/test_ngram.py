"""Questions to n-gram models: distributions, sentences, perplexity, sampling."""

import math
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.errors import InvalidArgumentError, MalmoiWarning
from malmoi.keys import Keys
from malmoi.models.language_model import NextWord
from malmoi.models.ngram_model import NgramModel
from malmoi.models.trie import Trie
from malmoi.train.language.ngram import NGram, Smoothing, train_ngram

Sentences = list[list[str]]
SAM = [line.split() for line in ("I am Sam", "Sam I am", "I do not like green eggs and ham")]
SMOOTHED: list[Smoothing] = ["add-k", "interpolated", "kneser-ney"]

sentences = st.lists(st.lists(st.sampled_from("abcde"), max_size=6), min_size=1, max_size=8).filter(
    any
)
settings = st.builds(
    NGram,
    order=st.integers(1, 5),
    smoothing=st.sampled_from(["none", *SMOOTHED]),
    k=st.floats(0.01, 3),
    min_count=st.just(1),
)
contexts = st.lists(st.sampled_from(["a", "b", "c", "never seen", "<s>", "</s>"]), max_size=5)


def trained(given_sentences: Sentences, given_settings: NGram) -> NgramModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MalmoiWarning)
        return train_ngram(given_sentences, given_settings)


@given(sentences, settings, contexts)
def test_what_may_follow_sums_to_one(
    given_sentences: Sentences, given_settings: NGram, context: list[str]
) -> None:
    model = trained(given_sentences, given_settings)
    distribution = model.distribution(context)
    assert distribution.min() >= 0
    assert distribution[model.trie.begin] == 0
    total = distribution.sum()
    if given_settings.smoothing == "none":
        assert total == pytest.approx(1) or total == 0
    else:
        assert total == pytest.approx(1)


@given(sentences, settings, contexts)
def test_a_probability_is_the_one_of_the_distribution(
    given_sentences: Sentences, given_settings: NGram, context: list[str]
) -> None:
    model = trained(given_sentences, given_settings)
    distribution = model.distribution(context)
    for row, word in enumerate(model.trie.words):
        assert model.probability(word, context) == pytest.approx(distribution[row])


@given(sentences, settings, st.lists(st.lists(st.sampled_from("abx"), max_size=7), min_size=1))
def test_a_text_is_as_probable_as_its_words_one_after_the_other(
    given_sentences: Sentences, given_settings: NGram, text: Sentences
) -> None:
    model = trained(given_sentences, given_settings)
    chances = [
        model.probability(word, ["<s>", *sentence[:i]])
        for sentence in text
        for i, word in enumerate([*sentence, "</s>"])
    ]
    score = model.score(text)
    assert score.tokens == len(chances)
    assert score.unknown == sum(w not in model.trie.words for sentence in text for w in sentence)
    if min(chances) == 0:
        assert score.log_probability == -math.inf
        assert model.perplexity(text) == math.inf
    else:
        expected = sum(map(math.log, chances))
        assert score.log_probability == pytest.approx(expected, abs=1e-9)
        assert model.perplexity(text) == pytest.approx(math.exp(-expected / len(chances)))


def test_the_probability_of_a_sentence_is_the_product_of_its_words() -> None:
    model = trained(SAM, NGram(order=2, smoothing="none"))
    # P(I | <s>) P(am | I) P(Sam | am) P(</s> | Sam)
    expected = math.log(2 / 3 * 2 / 3 * 1 / 2 * 1 / 2)
    assert model.sentence_log_probability(["I", "am", "Sam"]) == pytest.approx(expected)
    assert model.sentence_log_probability(["Sam", "Sam"]) == -math.inf


def test_the_most_probable_words_come_first() -> None:
    model = trained(SAM, NGram(order=2, smoothing="none"))
    assert model.next_words(["I"], 2) == [NextWord("am", 2 / 3), NextWord("do", 1 / 3)]
    every = model.next_words(["I"])
    assert len(every) == len(model.trie.words) - 1
    assert "<s>" not in [word for word, _ in every]
    with pytest.raises(InvalidArgumentError, match="k is 0: it must be at least 1"):
        model.next_words(["I"], 0)


def test_nothing_before_the_beginning_of_a_sentence_counts() -> None:
    model = trained(SAM, NGram(smoothing="none"))
    assert model.probability("I", ["<s>"]) == 2 / 3
    assert model.probability("I", ["<s>", "<s>"]) == model.probability("I", ["ham", "<s>"]) == 2 / 3


@pytest.mark.parametrize("smoothing", ["none", *SMOOTHED])
def test_the_same_seed_draws_the_same_sentence(smoothing: Smoothing) -> None:
    model = trained(SAM, NGram(order=2, smoothing=smoothing))
    drawn = [model.sample(seed) for seed in range(20)]
    assert drawn == [model.sample(seed) for seed in range(20)]
    assert len({tuple(sentence) for sentence in drawn}) > 3
    assert not any(word.startswith("<") for sentence in drawn for word in sentence)
    assert model.sample(1, start=["I", "am"])[:2] == ["I", "am"]
    assert all(len(model.sample(seed, max_words=3)) <= 3 for seed in range(20))


def test_words_are_drawn_as_often_as_they_are_probable() -> None:
    model = trained(SAM, NGram(order=2, smoothing="none"))
    firsts = Counter(model.sample(seed, max_words=1)[0] for seed in range(900))
    assert set(firsts) == {"I", "Sam"}
    assert firsts["I"] / 900 == pytest.approx(2 / 3, abs=0.05)


def test_unknown_words_are_drawn_where_nothing_else_can_follow() -> None:
    model = trained([["a", "b"], ["a", "c"]], NGram(order=2, smoothing="none", min_count=2))
    assert model.sample(1) == ["a", "<unk>"]
    with pytest.raises(InvalidArgumentError, match="no word was seen after 'a </s>'"):
        trained([["a"]], NGram(smoothing="none")).sample(1, start=["a", "</s>"])


def test_what_makes_no_sense_is_refused() -> None:
    model = trained(SAM, NGram(order=2))
    with pytest.raises(InvalidArgumentError, match="'green' is one string"):
        model.probability("eggs", "green")
    with pytest.raises(InvalidArgumentError, match="nothing to score"):
        model.perplexity([])
    with pytest.raises(InvalidArgumentError, match="<unk>, <s> and </s> must be among the words"):
        Trie(Keys.of(["a", "<s>"]), ())
    with pytest.raises(
        InvalidArgumentError,
        match=r"give one probability and one back-off weight for each of the \[13, 15\]",
    ):
        NgramModel(model.trie, model.probabilities, (np.ones(3),))


def test_a_model_shows_its_size() -> None:
    model = trained(SAM, NGram(order=2))
    assert repr(model) == "NgramModel(13 + 15 n-grams)"
    assert repr(model.trie) == "Trie(13 + 15 n-grams)"
