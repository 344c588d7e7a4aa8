"""Probabilities, ratios and pointwise mutual information, beside their formulas."""

from math import isnan

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.errors import InvalidArgumentError, UnknownWordError
from malmoi.models.cooccurrences import Cooccurrences
from malmoi.train.common.inputs import encode_token_lists
from malmoi.train.counts import cooccurrence
from malmoi.train.counts.cooccurrence import Cooccurrence, count_cooccurrences
from malmoi.train.counts.pmi import PMI, mutual_information, probability_table
from malmoi.vocabulary import Vocabulary

SENTENCES = [
    "ice is solid water",
    "steam is gas water",
    "solid ice in water",
    "gas steam from water",
    "fashion is fashion",
]

tables = st.integers(1, 6).flatmap(
    lambda size: st.lists(
        st.lists(st.integers(0, 5), min_size=size, max_size=size), min_size=size, max_size=size
    )
)


def counted(sentences: list[str] = SENTENCES, window: int = 3) -> Cooccurrences:
    encoded = encode_token_lists(sentence.split() for sentence in sentences)
    return count_cooccurrences(encoded, Cooccurrence(window=window, weighting="flat"))


def from_table(table: npt.NDArray[np.int64]) -> Cooccurrences:
    vocabulary = Vocabulary.of({f"w{i}": 1 for i in range(len(table))})
    rows, columns = np.nonzero(table)
    starts = np.searchsorted(rows, np.arange(len(table) + 1))
    values = table[rows, columns].astype(np.uint32)
    return Cooccurrences(vocabulary, starts, columns.astype(np.uint32), values)


@given(tables, st.sampled_from([1.0, 2.0, 5.0]), st.sampled_from([1.0, 0.75, 0.5]), st.booleans())
def test_pmi_is_its_formula(
    numbers: list[list[int]], shift: float, smoothing: float, positive: bool
) -> None:
    table = np.array(numbers)
    settings = PMI(positive=positive, shift=shift, smoothing=smoothing)
    found = mutual_information(from_table(table), settings).dense()
    together = table / max(table.sum(), 1)
    word = together.sum(axis=1)
    context = table.sum(axis=0) ** smoothing / max((table.sum(axis=0) ** smoothing).sum(), 1)
    for i, j in np.ndindex(table.shape):
        expected = 0.0
        if table[i, j]:
            expected = np.log(together[i, j] / (word[i] * context[j])) - np.log(shift)
        if positive:
            expected = max(0.0, expected)
        assert found[i, j] == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_pairs_without_information_are_left_out_of_ppmi() -> None:
    counts = counted()
    everything = mutual_information(counts, PMI(positive=False, shift=3))
    positive = mutual_information(counts, PMI(shift=3))
    assert len(everything) == len(counts) > len(positive)
    assert np.all(positive.values > 0)
    assert len(positive) == np.count_nonzero(everything.values > 0)
    assert len(mutual_information(counts, PMI(shift=5))) < len(positive)


def test_ppmi_is_the_same_in_small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = mutual_information(counted())
    monkeypatch.setattr(cooccurrence, "BLOCK_ENTRIES", 7)
    parts = mutual_information(counted())
    assert whole.columns.tobytes() == parts.columns.tobytes()
    np.testing.assert_allclose(whole.values, parts.values, rtol=1e-6)


def test_smoothing_takes_from_rare_contexts() -> None:
    plain, smoothed = (
        mutual_information(counted(), PMI(positive=False, smoothing=smoothing))
        for smoothing in (1.0, 0.75)
    )
    assert smoothed.value("ice", "solid") < plain.value("ice", "solid")
    assert smoothed.value("ice", "water") > plain.value("ice", "water")


def test_the_table_of_ice_and_steam() -> None:
    counts = counted()
    table = probability_table(counts, ["ice", "steam"], ["solid", "gas", "water", "fashion"])
    solid, gas, water, fashion = table.ratios[0]
    assert solid == np.inf
    assert gas == 0
    assert water == 1
    assert isnan(fashion)
    labels = ["P(k|ice)", "P(k|steam)", "P(k|ice)/P(k|steam)"]
    assert [label for label, _ in table.rows()] == labels
    assert table.rows()[0][1] == [2 / 6, 0, 2 / 6, 0]
    assert table.rows()[2][1][:3] == [np.inf, 0, 1]


def test_probabilities_of_all_contexts_sum_to_one() -> None:
    counts = counted()
    table = probability_table(counts, list(counts.vocabulary), list(counts.vocabulary))
    np.testing.assert_allclose(table.probabilities.sum(axis=1), 1)
    there = table.probabilities[4] > 0
    ratios = table.probabilities[0, there] / table.probabilities[4, there]
    np.testing.assert_allclose(table.ratios[3, there], ratios)


def test_a_single_word_has_no_ratio_and_a_lone_one_no_context() -> None:
    lone = counted(["alone", "two words"])
    table = probability_table(lone, ["alone"], ["two", "alone"])
    assert table.rows() == [("P(k|alone)", [0, 0])]
    assert table.ratios.shape == (0, 2)


def test_a_table_of_unknown_words_or_of_none_is_refused() -> None:
    with pytest.raises(UnknownWordError, match="'lava'"):
        probability_table(counted(), ["ice", "lava"], ["solid"])
    with pytest.raises(UnknownWordError, match="'lava'"):
        probability_table(counted(), ["ice"], ["lava"])
    for words, contexts in (([], ["ice"]), (["ice"], [])):
        with pytest.raises(InvalidArgumentError, match="at least one"):
            probability_table(counted(), words, contexts)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"shift": 0}, "shift is 0"),
        ({"shift": float("nan")}, "shift is nan"),
        ({"smoothing": 0}, "smoothing is 0"),
        ({"smoothing": 1.5}, "smoothing is 1.5"),
    ],
)
def test_settings_that_make_no_sense(wrong: dict[str, float], words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        PMI(**wrong)  # type: ignore[arg-type]
