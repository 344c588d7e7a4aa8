"""Modified Kneser–Ney beside its definition and beside KenLM's lmplz."""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.errors import MalmoiWarning
from malmoi.models.ngram_model import NgramModel
from malmoi.train.language.kneser_ney import FALLBACK_DISCOUNTS, adjusted_counts, estimate_discounts
from malmoi.train.language.ngram import NGram, train_ngram
from malmoi.train.language.sentence_counts import count_ngrams
from tests import naive_kneser_ney

Sentences = list[list[str]]
sentences = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", "d", "<unk>"]), max_size=6), min_size=1, max_size=8
).filter(any)


def trained(given_sentences: Sentences, order: int) -> NgramModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MalmoiWarning)
        return train_ngram(given_sentences, NGram(order=order))


@pytest.fixture(scope="session")
def lee(gensim_data: Callable[[str], Path]) -> tuple[Sentences, Sentences]:
    lines = gensim_data("lee_background.cor").read_bytes().decode().rstrip("\n").split("\n")
    texts = [line.split() for line in lines]
    return texts[:250], texts[250:]


@given(sentences, st.integers(1, 4), st.lists(st.sampled_from("abcx"), max_size=4))
def test_every_probability_is_the_one_of_the_definition(
    given_sentences: Sentences, order: int, context: list[str]
) -> None:
    model = trained(given_sentences, order)
    twin = naive_kneser_ney.KneserNey(given_sentences, order)
    known = tuple(word if word in twin.words else "<unk>" for word in context)
    for before in (known, ("<s>", *known)):
        for word, probability in model.next_words(before):
            assert probability == pytest.approx(twin.probability(word, before), abs=1e-12)


def test_a_real_text_is_as_probable_as_by_definition(lee: tuple[Sentences, Sentences]) -> None:
    texts, held_out = lee
    model = trained(texts[:100], 3)
    twin = naive_kneser_ney.KneserNey(texts[:100], 3)
    for sentence in held_out[:3]:
        line = [word if word in twin.words else "<unk>" for word in sentence] + ["</s>"]
        logarithms = [
            np.log(twin.probability(word, ("<s>", *line[:i]))) for i, word in enumerate(line)
        ]
        assert model.sentence_log_probability(sentence) == pytest.approx(sum(logarithms))


# Printed by KenLM 0.3.0: `lmplz -o 3 < train`, then `query -v summary < held-out`.
@pytest.mark.parametrize(("order", "perplexity"), [(3, 740.7077120), (4, 736.2451666)])
def test_perplexity_is_the_one_of_lmplz(
    lee: tuple[Sentences, Sentences], order: int, perplexity: float
) -> None:
    texts, held_out = lee
    score = trained(texts, order).score(held_out)
    assert score.perplexity == pytest.approx(perplexity, rel=1e-6)
    assert (score.tokens, score.unknown) == (10_320, 1_539)


def test_discounts_are_those_of_lmplz(lee: tuple[Sentences, Sentences]) -> None:
    counts = count_ngrams(lee[0], 3)
    printed = {2: [0.845486, 1.2602, 1.63924], 3: [0.865702, 1.63196, 1.95019]}
    for order, expected in printed.items():
        discounts = estimate_discounts(adjusted_counts(counts, order))
        assert discounts is not None
        assert discounts[1:] == pytest.approx(expected, rel=1e-3)


def test_lower_orders_count_what_stands_before() -> None:
    counts = count_ngrams([["San", "Francisco"]] * 5 + [["red", "glass"], ["my", "glass"]], 2)
    adjusted = dict(zip(counts.trie.words, adjusted_counts(counts, 1).tolist(), strict=True))
    assert counts.count(["Francisco"]) == 5
    assert (adjusted["Francisco"], adjusted["glass"]) == (1, 2)
    assert adjusted_counts(counts, 2).tolist() == counts.counts[1].tolist()


def test_a_corpus_too_small_for_discounts_says_so_and_is_learnt_all_the_same() -> None:
    assert estimate_discounts(np.array([1, 1, 2, 3])) is None  # nothing was seen four times
    assert estimate_discounts(np.array([1, 2] + [3] * 9 + [4])) is None  # out of bounds
    with pytest.warns(MalmoiWarning, match=r"order 1, 2: 0\.5, 1\.0, 1\.5 are used instead"):
        model = train_ngram([["a", "b"]], NGram(order=2))
    # c(a b) = 1, one half is taken off; of </s>, a and b, each after one word, the same.
    assert FALLBACK_DISCOUNTS[1] == 0.5
    single = 0.5 / 3 + 0.5 / 4
    assert model.probability("b", ["a"]) == pytest.approx(0.5 + 0.5 * single)


def test_unknown_words_share_evenly_in_what_is_set_aside() -> None:
    model = trained([["a", "b"]], 2)
    assert model.probability("x") == pytest.approx(0.5 / 4)
    assert model.probability("x", ["a"]) == pytest.approx(0.5 * 0.5 / 4)
