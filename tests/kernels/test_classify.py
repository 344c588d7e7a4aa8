"""The kernels of linear classifiers beside their twins, and beside scikit-learn."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import MultinomialNB

from malmoi.classify.ngrams.features import Ngrams, folds, jamo_letters, packed
from malmoi.classify.ngrams.linear_classifier import plain_scores
from malmoi.kernels.classify.collect_ngrams import collect_ngrams
from malmoi.kernels.classify.linear_scores import BucketRows
from malmoi.kernels.classify.linear_trainer import LinearKernel, bucket_counts, to_rows
from malmoi.kernels.classify.sets import Sets
from tests import naive_classify as naive

ROWS = 6
LETTERS = st.sampled_from("aAbz가각힣ㅋ \t\n!İΣéß\ud800😀\u00a0")
TEXTS = st.lists(st.text(LETTERS, max_size=12), min_size=1, max_size=8)
PLANS = st.sampled_from(
    [
        Ngrams(),
        Ngrams(min_n=2, max_n=3, words=3, jamo=5, bits=10),
        Ngrams(max_n=0, words=2, bits=30),
        Ngrams(max_n=0, jamo=4),
    ]
)
FEATURES = st.lists(
    st.lists(st.integers(0, ROWS - 1), max_size=4, unique=True), min_size=4, max_size=12
)


def compiled(ngrams: Ngrams, texts: list[str]) -> Sets:
    codes, offsets = packed(texts)
    return Sets(*collect_ngrams(codes, offsets, folds(), jamo_letters(), ngrams.plan))


@given(PLANS, TEXTS)
def test_sets_are_those_of_the_twins(ngrams: Ngrams, texts: list[str]) -> None:
    texts = [unicodedata.normalize("NFC", text) for text in texts]
    ours, plain = compiled(ngrams, texts), ngrams.plain_sets(texts)
    np.testing.assert_array_equal(ours.offsets, plain.offsets)
    np.testing.assert_array_equal(ours.items, plain.items)
    for i, text in enumerate(texts):
        expected = naive.ngram_set(
            text, ngrams.min_n, ngrams.max_n, ngrams.words, ngrams.jamo, ngrams.bits
        )
        assert ours.items[ours.offsets[i] : ours.offsets[i + 1]].tolist() == expected


def test_a_very_long_text_has_each_bucket_once() -> None:
    text = "".join(map(chr, np.random.default_rng(1).integers(0xAC00, 0xD7A3, 300_000)))
    ours = compiled(Ngrams(bits=12), [text, "끝"])
    assert len(set(ours.items[: ours.offsets[1]].tolist())) == ours.offsets[1] == 1 << 12


@given(FEATURES, st.sampled_from([1, 2, 3]), st.booleans(), st.sampled_from([0.5, 1.0]))
def test_learning_is_that_of_the_twin(
    sets: list[list[int]], outputs: int, softmax: bool, alpha: float
) -> None:
    softmax = softmax and outputs > 1
    random = np.random.default_rng(len(sets))
    labels = [[int(random.integers(outputs))] for _ in sets]
    if outputs == 1:
        labels = [[0] * int(random.integers(2)) for _ in sets]
    twin = naive.LinearTable(sets, labels, ROWS, outputs, alpha)
    kernel = LinearKernel(Sets.of(sets), Sets.of(labels), ROWS, outputs)
    kernel.count(np.arange(len(sets)), alpha)
    order, losses = random.permutation(len(sets)), np.full(3, -1.0)
    expected = sum(
        twin.learn(int(text), 0.5 * (1 - i / len(order)), 0.1, softmax)
        for i, text in enumerate(order)
    )
    kernel.learn(order.astype(np.uint32), (0.5, 0.0, 0.1), losses, 1, softmax=softmax)
    assert losses[0] == losses[2] == -1
    assert losses[1] == pytest.approx(expected, rel=1e-3, abs=1e-3)
    np.testing.assert_allclose(kernel.table[:, :outputs], twin.weights, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(kernel.bias, twin.bias, rtol=1e-3, atol=1e-4)


@given(FEATURES, st.sampled_from([0.1, 1.0, 3.0]))
def test_log_ratios_are_those_of_naive_bayes(sets: list[list[int]], alpha: float) -> None:
    sets = [*sets, list(range(ROWS)), [0]]
    classes = [i % 2 for i in range(len(sets))]
    kernel = LinearKernel(Sets.of(sets), Sets.of([[0] * one for one in classes]), ROWS, 1)
    kernel.count(np.arange(len(sets)), alpha)
    counts = np.zeros((len(sets), ROWS))
    for i, own in enumerate(sets):
        counts[i, own] = 1
    model = MultinomialNB(alpha=alpha).fit(counts, classes)
    expected = model.feature_log_prob_[1] - model.feature_log_prob_[0]
    np.testing.assert_allclose(kernel.ratios()[:, 0], expected, rtol=1e-4, atol=1e-5)


def test_adagrad_divides_by_the_root_of_squared_gradients() -> None:
    sets, labels = Sets.of([[0, 1], [1, 2], [0, 2]]), Sets.of([[0], [], [0]])
    plain, scaled = (LinearKernel(sets, labels, 3, 1) for _ in range(2))
    scaled.squares = np.zeros((3, 1), np.float32)
    for kernel in (plain, scaled):
        kernel.count(np.arange(3), 1.0)
        kernel.learn(np.array([0], np.uint32), (0.5, 0.5, 0.0), np.zeros(1), 0)
    moved, steps = plain.table[:, 0] - 1, scaled.table[:, 0] - 1
    assert moved.any()
    np.testing.assert_allclose(steps[moved != 0], 0.5 * np.sign(moved[moved != 0]), rtol=1e-3)


@given(FEATURES, st.sampled_from([1, 3]))
def test_scores_have_the_bits_of_numpy(sets: list[list[int]], outputs: int) -> None:
    buckets = np.array([0, 2, 3, 200], np.int32)
    random = np.random.default_rng(1)
    values = random.normal(size=(4, outputs)).astype(np.float32)
    norms = random.random(4).astype(np.float32)
    given_sets = Sets.of([*sets, [200]])
    ours = BucketRows(buckets, 8).scores(*given_sets, values, norms)
    near = np.searchsorted(buckets, given_sets.items)
    rows = np.where(buckets[near] == given_sets.items, near, -1).astype(np.int32)
    np.testing.assert_array_equal(ours, plain_scores(given_sets, rows, values, norms))
    twin = [naive.score(own, buckets.tolist(), values, norms) for own in [*sets, [200]]]
    np.testing.assert_allclose(ours, twin, rtol=1e-5, atol=1e-6)


def test_buckets_without_a_row_are_left_out() -> None:
    sets = Sets.of([[1, 3], [3], []])
    assert bucket_counts(sets.items, 8)[[1, 3]].tolist() == [1, 2]
    rows = np.full(256, -1, np.int32)
    rows[3] = 0
    ours = to_rows(sets, rows)
    assert (ours.offsets.tolist(), ours.items.tolist()) == ([0, 1, 2, 2], [0, 0])


def test_what_is_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="features has values"):
        LinearKernel(Sets.of([[ROWS]]), Sets.of([[0]]), ROWS, 1)
    with pytest.raises(ValueError, match="labels has values"):
        LinearKernel(Sets.of([[0]]), Sets.of([[1]]), ROWS, 1)
    kernel = LinearKernel(Sets.of([[0]]), Sets.of([[0]]), ROWS, 1)
    with pytest.raises(ValueError, match="count the texts"):
        kernel.learn(np.zeros(1, np.uint32), (1, 0, 0), np.zeros(1), 0)
    with pytest.raises(ValueError, match="items has values"):
        BucketRows(np.array([1], np.int32), 8).scores(
            *Sets.of([[256]]), np.ones((1, 1), np.float32), np.ones(1, np.float32)
        )
