"""Training n-gram models: the textbook's example, NLTK's estimates, settings, bad input."""

import warnings
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.errors import InvalidArgumentError, MalmoiWarning
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.models.ngram_model import NgramModel
from malmoi.text.encoded import EncodedCorpus
from malmoi.train.language.ngram import NGram, Smoothing, train_ngram
from malmoi.train.language.sentence_counts import count_ngrams
from malmoi.vocabulary import Vocabulary
from tests.reporters import CallbackReporter

Sentences = list[list[str]]
SAM = [line.split() for line in ("I am Sam", "Sam I am", "I do not like green eggs and ham")]
sentences = st.lists(st.lists(st.sampled_from("abcd"), max_size=5), min_size=1, max_size=6).filter(
    any
)


@pytest.mark.parametrize(
    ("word", "context", "expected"),
    [
        ("I", "<s>", 2 / 3),
        ("Sam", "<s>", 1 / 3),
        ("am", "I", 2 / 3),
        ("</s>", "Sam", 1 / 2),
        ("Sam", "am", 1 / 2),
        ("do", "I", 1 / 3),
    ],
)
def test_i_am_sam(word: str, context: str, expected: float) -> None:
    model = train_ngram(SAM, NGram(order=2, smoothing="none"))
    assert model.probability(word, [context]) == expected


def nltk_model(kind: str, text: Sentences, order: int, *arguments: float) -> Any:
    """NLTK's model of the same n-grams: one `<s>` and one `</s>` a sentence.

    `<s>` is left out of its vocabulary, which only words that can follow belong to; NLTK
    takes it for its unknown word then, in contexts too.
    """
    lm = import_module("nltk.lm")
    words = {word for sentence in text for word in sentence} | {"</s>"}
    vocabulary = lm.Vocabulary([*words])
    model = getattr(lm, kind)(*arguments, order, vocabulary=vocabulary)
    lines = [("<s>", *sentence, "</s>") for sentence in text]
    model.fit(
        [line[i : i + m] for m in range(1, order + 1) for i in range(len(line) - m + 1)]
        for line in lines
    )
    return model


@pytest.mark.parametrize(
    ("settings", "kind", "arguments"),
    [
        (NGram(smoothing="none"), "MLE", ()),
        (NGram(smoothing="add-k"), "Laplace", ()),
        (NGram(smoothing="add-k", k=0.1), "Lidstone", (0.1,)),
    ],
)
def test_probabilities_are_those_of_nltk(
    settings: NGram,
    kind: str,
    arguments: tuple[float, ...],
    gensim_data: Callable[[str], Path],
) -> None:
    lines = gensim_data("lee_background.cor").read_text().split("\n")
    text, other = [line.split() for line in lines[:40]], [line.split() for line in lines[40:44]]
    ours = train_ngram(text, settings)
    theirs = nltk_model(kind, text, 3, *arguments)
    asked = [("<s>", *sentence, "</s>") for sentence in text[:4] + other]
    for line in asked:
        for i in range(1, len(line)):
            context = line[max(0, i - 2) : i]
            if all(word in theirs.vocab or word == "<s>" for word in context):
                expected = theirs.score(line[i], context)
                assert ours.probability(line[i], context) == pytest.approx(expected, rel=1e-12)


@given(sentences, st.lists(st.sampled_from("abcd"), min_size=2, max_size=2))
def test_interpolation_weighs_the_frequencies_of_all_orders(
    given_sentences: Sentences, context: list[str]
) -> None:
    weights = (0.5, 0.3, 0.2)
    settings = NGram(smoothing="interpolated", weights=weights)
    model = train_ngram(given_sentences, settings)
    plain = train_ngram(given_sentences, NGram(smoothing="none"))
    seen = [m for m in range(3) if plain.distribution(context[2 - m :]).any()]
    expected = sum(weights[m] * plain.distribution(context[2 - m :]) for m in seen)
    assert model.distribution(context) == pytest.approx(expected / sum(weights[m] for m in seen))


@given(sentences, st.integers(1, 4))
def test_ngrams_are_counted_within_sentences(given_sentences: Sentences, order: int) -> None:
    expected: Counter[tuple[str, ...]] = Counter()
    for sentence in given_sentences:
        line = ("<s>", *sentence, "</s>")
        expected.update(line[i : i + order] for i in range(len(line) - order + 1))
    counts = count_ngrams(given_sentences, order)
    found = {words: times for words, times in counts.most_common(10**6) if times}
    assert found == expected
    assert all(counts.count(words) == times for words, times in expected.items())


def test_counts_answer_for_every_order() -> None:
    counts = count_ngrams(SAM, 2)
    assert counts.most_common(1) == [(("I", "am"), 2)]
    assert counts.most_common(2, order=1) == [(("I",), 3), (("<s>",), 3)]
    assert counts.count(["am", "I"]) == 0
    assert repr(counts) == "NgramCounts(13 + 15 n-grams, 20 words)"
    with pytest.raises(InvalidArgumentError, match="3 words: give an n-gram of 1 to 2 words"):
        counts.count(["I", "am", "Sam"])
    with pytest.raises(
        InvalidArgumentError, match="order is 3: n-grams of order 1 to 2 were counted"
    ):
        counts.most_common(order=3)


def test_rare_words_become_unknown() -> None:
    model = train_ngram(SAM, NGram(order=2, smoothing="none", min_count=2))
    assert list(model.trie.words) == ["I", "Sam", "am", "<unk>", "<s>", "</s>"]
    assert model.probability("eggs", ["I"]) == model.probability("<unk>", ["I"]) == 1 / 3
    assert model.probability("ham", ["green"]) == 6 / 7
    assert model.score(SAM).unknown == 7


def test_an_unknown_word_may_be_written_in_the_text() -> None:
    model = train_ngram([["a", "<unk>"], ["a", "b"]], NGram(order=2, smoothing="none"))
    assert sorted(model.trie.words) == ["</s>", "<s>", "<unk>", "a", "b"]
    assert model.probability("never seen", ["a"]) == 1 / 2


@given(sentences, st.sampled_from([1, 2]))
def test_ids_and_sentences_train_the_same_model(given_sentences: Sentences, min_count: int) -> None:
    seen = Counter(word for sentence in given_sentences for word in sentence)
    if max(seen.values()) < min_count:
        return
    kept = Vocabulary.of(seen, min_count=min_count)
    numbers = [
        number
        for sentence in given_sentences
        for number in [*(kept.id(w) if w in kept else UNKNOWN for w in sentence), LINE_END]
    ]
    ids = np.array(numbers, dtype=np.uint32)
    settings = NGram(smoothing="add-k", min_count=min_count)
    one = train_ngram(given_sentences, settings)
    other = train_ngram(EncodedCorpus(ids, kept), settings)
    assert one.trie.words == other.trie.words
    for ours, theirs in zip(one.probabilities, other.probabilities, strict=True):
        assert np.array_equal(ours, theirs)


def test_a_last_line_without_its_end_counts_too() -> None:
    vocabulary = Vocabulary.of({"a": 2, "b": 1})
    counts = count_ngrams(EncodedCorpus(np.array([0, LINE_END, 0, 1], np.uint32), vocabulary), 2)
    assert counts.count(["b", "</s>"]) == counts.count(["<s>", "a"]) - 1 == 1


def test_words_of_the_vocabulary_that_were_never_seen_are_learnt_too() -> None:
    vocabulary = Vocabulary.of({"a": 2, "b": 1})
    ids = np.array([0, LINE_END], np.uint32)
    model: NgramModel
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MalmoiWarning)
        model = train_ngram(EncodedCorpus(ids, vocabulary))
    assert 0 < model.probability("b") == model.probability("<unk>") < model.probability("a")


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"order": 0}, "order is 0: it must be at least 1"),
        ({"min_count": 0}, "min_count is 0: it must be at least 1"),
        ({"smoothing": "kn"}, "smoothing must be one of none, add-k, "),
        ({"k": 0}, "k is 0: it must be above 0"),
        ({"k": float("nan")}, "k is nan"),
        ({"weights": (0.5, 0.5)}, "weights are for interpolated models, not for 'kneser-ney'"),
        ({"smoothing": "interpolated", "weights": (1.0,)}, "1 weights for order 3: give one per"),
        ({"smoothing": "interpolated", "weights": (0.5, 0.5, 0.5)}, "the weights sum to 1.5"),
        ({"smoothing": "interpolated", "weights": (1.0, 0.0, 0.0)}, "each must be above 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidArgumentError, match=complaint):
        NGram(**settings)


@pytest.mark.parametrize("smoothing", ["none", "add-k", "interpolated", "kneser-ney"])
@pytest.mark.parametrize("nothing", [[], [[]], [[], []]])
def test_nothing_can_be_learnt_from_nothing(nothing: Sentences, smoothing: Smoothing) -> None:
    with pytest.raises(InvalidArgumentError, match="the corpus has no words"):
        train_ngram(nothing, NGram(smoothing=smoothing))


def test_a_corpus_of_rare_words_says_how_often_the_most_frequent_was_seen() -> None:
    with pytest.raises(
        InvalidArgumentError, match="no word occurs 4 times, the most frequent one 3 times"
    ):
        train_ngram(SAM, NGram(min_count=4))


def test_strings_and_marks_are_no_words() -> None:
    with pytest.raises(
        InvalidArgumentError,
        match="those before are lists of tokens",
    ):
        train_ngram([["I"], "I am Sam"])
    with pytest.raises(InvalidArgumentError, match="'<s>' is among the words: leave it out"):
        train_ngram([["<s>", "I", "am", "</s>"]])
    with pytest.raises(InvalidArgumentError, match="'</s>' is among the words"):
        train_ngram(EncodedCorpus(np.array([0], np.uint32), Vocabulary.of({"</s>": 1})))
    with pytest.raises(InvalidArgumentError, match="id 7 is in the text, but there are 1 words"):
        train_ngram(EncodedCorpus(np.array([7], np.uint32), Vocabulary.of({"a": 1})))


def test_progress_is_told_by_order_and_at_the_end() -> None:
    told: list[tuple[int, int]] = []
    train_ngram(
        SAM,
        NGram(smoothing="add-k"),
        reporter=CallbackReporter(
            progress=lambda *pair: told.append(pair), stage="counting n-grams"
        ),
    )
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    told.clear()
    count_ngrams(
        SAM,
        2,
        reporter=CallbackReporter(
            progress=lambda *pair: told.append(pair), stage="counting n-grams"
        ),
    )
    assert told == [(1, 2), (2, 2)]
