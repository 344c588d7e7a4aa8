import json
from math import log2
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.evaluate.retrieval import (
    RetrievalSet,
    evaluate_retrieval,
    load_beir,
    ndcg,
    recall,
    score_retrieval,
)
from malmoi.search.build import build_index
from tests.search.worlds import TEXTS, BagOfWords


@given(st.lists(st.integers(0, 3), min_size=2, max_size=15).filter(any), st.randoms())
def test_ndcg_equals_scikit_learn(gains: list[int], chance: object) -> None:
    from sklearn.metrics import ndcg_score

    order = np.random.default_rng(len(gains)).permutation(len(gains))
    relevant = {str(i): float(gain) for i, gain in enumerate(gains)}
    scores = np.empty(len(gains))
    scores[order] = -np.arange(len(gains))
    expected = ndcg_score([gains], [scores], k=10)
    assert ndcg([str(i) for i in order], relevant, 10) == pytest.approx(expected)


def test_a_worked_example() -> None:
    relevant = {"a": 1.0, "b": 1.0, "c": 0.0}
    found = ["x", "a", "c", "y"]
    assert ndcg(found, relevant, 3) == pytest.approx((1 / log2(3)) / (1 + 1 / log2(3)))
    assert recall(found, relevant, 3) == 0.5
    assert recall(found, relevant, 1) == 0
    assert ndcg(["a", "a", "b"], relevant, 3) == pytest.approx(1)  # found twice counts once


def test_scores_have_n_and_an_interval() -> None:
    test = RetrievalSet(
        {"1": "a", "2": "b", "3": "c", "4": "nothing"},
        {"1": {"a": 1}, "2": {"b": 1}, "3": {"x": 1}, "4": {"z": 0}},
    )
    scores = score_retrieval(lambda query: [query], test, 10)
    assert (scores.ndcg.answered, scores.ndcg.total) == (3, 4)
    assert scores.ndcg.value == pytest.approx(2 / 3)
    assert scores.recall.low is not None
    assert scores.recall.high is not None
    assert scores.recall.low < 2 / 3 < scores.recall.high


def test_an_index_is_judged_by_a_test_in_beirs_layout(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    lines = [json.dumps({"_id": f"q{i}", "text": text}) for i, text in enumerate(TEXTS)]
    (tmp_path / "queries.jsonl").write_text("\n".join(lines), encoding="utf-8")
    judged = "query-id\tcorpus-id\tscore\nq0\t0\t1\nq3\t3\t2\nq5\t1\t1\n"
    (tmp_path / "qrels" / "test.tsv").write_text(judged, encoding="utf-8")
    test = load_beir(tmp_path)
    assert [*test.queries] == ["q0", "q3", "q5"]
    index = build_index(BagOfWords(), TEXTS)
    for way in ({}, {"lexical": True}, {"hybrid": True}):
        assert evaluate_retrieval(index, test, 1, **way).recall.value == pytest.approx(2 / 3)


def test_tests_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidFileError, match=r"holds neither queries_dev\.jsonl nor queries\.jsonl"
    ):
        load_beir(tmp_path, "dev")
    (tmp_path / "queries_dev.jsonl").write_text('{"_id": "1"}\n')
    (tmp_path / "qrels_dev.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\tgood\n")
    with pytest.raises(
        InvalidFileError, match=r"qrels_dev\.tsv:2: expected a query, a text and a number"
    ):
        load_beir(tmp_path, "dev")
    (tmp_path / "qrels_dev.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t1\n")
    with pytest.raises(
        InvalidFileError, match=r"queries_dev\.jsonl:1: the fields '_id' and 'text' are missing"
    ):
        load_beir(tmp_path, "dev")
    (tmp_path / "queries_dev.jsonl").write_text('{"_id": "2", "text": "x"}\n')
    with pytest.raises(InvalidArgumentError, match="judges none of the queries"):
        load_beir(tmp_path, "dev")
