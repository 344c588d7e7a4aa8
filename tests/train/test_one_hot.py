"""One-hot rows: one 1 for each known token."""

from typing import Any

import numpy as np
import pytest

from malmoi.errors import InvalidArgumentError
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.text.encoded import EncodedCorpus
from malmoi.train.common.inputs import encode_token_lists
from malmoi.train.counts.one_hot import one_hot
from malmoi.vocabulary import Vocabulary


def test_a_token_is_a_row_with_a_single_one() -> None:
    hot = one_hot(encode_token_lists([["나는", "너를", "나는"], ["너를"], ["나는"]]))
    assert hot.index == {"나는": 0, "너를": 1}
    assert hot.dense().tolist() == [[1, 0], [0, 1], [1, 0], [0, 1], [1, 0]]
    assert hot.shape == (5, 2)
    assert repr(hot) == "OneHot(5 × 2)"


def test_an_unknown_word_is_a_row_of_zeros_and_a_line_end_is_none() -> None:
    ids = np.array([1, UNKNOWN, LINE_END, LINE_END, 0, LINE_END], dtype=np.uint32)
    hot = one_hot(EncodedCorpus(ids, Vocabulary.of({"a": 2, "b": 1})))
    assert hot.dense().tolist() == [[0, 1], [0, 0], [1, 0]]


def test_scipy_takes_it_as_it_is() -> None:
    sparse: Any = pytest.importorskip("scipy.sparse")
    hot = one_hot(encode_token_lists([["to", "be", "or", "not", "to", "be"]]))
    matrix = sparse.csr_array((hot.values, hot.columns, hot.starts), shape=hot.shape)
    np.testing.assert_array_equal(matrix.toarray(), hot.dense())
    assert matrix.sum(axis=0).tolist() == [2, 2, 1, 1]


def test_nothing_has_no_rows() -> None:
    hot = one_hot(EncodedCorpus(np.array([], dtype=np.uint32), Vocabulary.of({})))
    assert hot.dense().shape == (0, 0)


def test_ids_of_another_vocabulary_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="id 2 is in the text, but there are 2 words"):
        one_hot(EncodedCorpus(np.array([0, 2], dtype=np.uint32), Vocabulary.of({"a": 1, "b": 1})))
