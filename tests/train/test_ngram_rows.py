import numpy as np
import pytest

from malmoi.keys import Keys
from malmoi.subwords import Subwords, Units
from malmoi.train.word2vec.input_rows import ngram_input_rows, word_input_rows

WORDS = ["eating", "자연어처리", "K팝", "a", "</s>", "강아지", "ㅋㅋ", "x" * 40]
EVERY_UNIT = pytest.mark.parametrize("units", ["characters", "syllables", "jamo", "jamo+syllables"])


@EVERY_UNIT
@pytest.mark.parametrize("buckets", [50, 100_000])
def test_rows_are_the_word_and_its_ngrams_in_order(units: Units, buckets: int) -> None:
    cut = Subwords(units=units, buckets=buckets)
    rows = ngram_input_rows(Keys.of(WORDS), cut)
    for i, word in enumerate(WORDS):
        own, *others = rows.rows[rows.starts[i] : rows.starts[i + 1]].tolist()
        assert own == i
        buckets_of = [int(rows.used_buckets[row - len(WORDS)]) for row in others]
        assert buckets_of == [cut.bucket(ngram) for ngram in cut.ngrams(word)]
    assert len(rows) == len(WORDS) + len(rows.used_buckets)
    assert np.all(np.diff(rows.used_buckets) > 0)


def test_words_alone_have_one_row_each() -> None:
    rows = word_input_rows(3)
    assert rows.rows.tolist() == [0, 1, 2]
    assert rows.starts.tolist() == [0, 1, 2, 3]


@EVERY_UNIT
def test_a_words_vector_is_the_mean_of_its_rows(units: Units) -> None:
    rows = ngram_input_rows(Keys.of(WORDS), Subwords(units=units, buckets=1000))
    inputs = np.random.default_rng(1).normal(size=(len(rows), 5)).astype(np.float32)
    means = rows.means(inputs)
    for i in range(len(WORDS)):
        expected = inputs[rows.rows[rows.starts[i] : rows.starts[i + 1]]].mean(axis=0)
        np.testing.assert_allclose(means[i], expected, atol=1e-6)


def test_a_row_that_is_there_often_moves_less_each_time() -> None:
    """So that the word itself, their mean, moves by as much as any other."""
    rows = ngram_input_rows(Keys.of(["ㅋ" * 50, "eating"]), Subwords(buckets=10**6))
    for word, share in enumerate(rows.shares.tolist()):
        inputs = np.zeros(len(rows))
        for row in rows.rows[rows.starts[word] : rows.starts[word + 1]]:
            inputs[row] += share
        those = inputs[rows.rows[rows.starts[word] : rows.starts[word + 1]]]
        assert those.mean() == pytest.approx(1, rel=1e-5)
    assert rows.shares[0] < 0.1
    assert rows.shares[1] == 1
