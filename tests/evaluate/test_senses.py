from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import silhouette_score
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.errors import MalmoiError
from malmoi.evaluate.senses import read_senses, sense_separation, separation

LINES = """She opened an account at the bank.\tmoney
The bank raised its interest rates.\tmoney

They had a picnic on the bank of the river.\triver
The river bank was muddy after the flood.\triver
The bank vault, and the bank of a stream.\tmoney, river
"""


@pytest.fixture(scope="module")
def minilm() -> TransformerEncoder:
    return load_transformer("minilm")


def write(folder: Path, content: str) -> Path:
    path = folder / "senses.tsv"
    path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize("groups", [[0, 0, 1, 1, 1, 2, 2, 0], [0, 1, 1, 1, 1, 1, 1, 1]])
def test_figures_are_scikit_learns(groups: list[int]) -> None:
    matrix = np.random.default_rng(6).normal(size=(8, 5)).astype(np.float32)
    found = separation(3, matrix, np.array(groups))
    cosine = {"metric": "cosine"}
    assert found.silhouette == pytest.approx(silhouette_score(matrix, groups, **cosine), abs=1e-6)
    judge = KNeighborsClassifier(1, **cosine)
    right = cross_val_score(judge, matrix, groups, cv=LeaveOneOut()).mean()
    assert found.nearest.value == pytest.approx(right)
    assert (found.layer, found.nearest.total) == (3, 8)


def test_similarities_within_and_between() -> None:
    matrix = np.array([[1, 0], [1, 0], [0, 1], [0, 2]], np.float32)
    found = separation(0, matrix, np.array([0, 0, 1, 1]))
    assert (found.within, found.between, found.gap, found.silhouette) == (1, 0, 1, 1)
    assert found.nearest.value == 1


def test_senses_of_bank_by_layer(minilm: TransformerEncoder, tmp_path: Path) -> None:
    found = sense_separation(minilm, "bank", write(tmp_path, LINES))
    assert [one.layer for one in found] == list(range(7))
    assert found[0].nearest.total == 6, "one text has two occurrences"
    assert max(one.silhouette for one in found[3:]) > found[0].silhouette + 0.1
    assert all(one.gap > 0 for one in found[1:])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("no tab here\n", "senses.tsv:1: 'no tab here' should be a text, a tab and a sense"),
        ("The bank.\tmoney\n\tmoney\n", "senses.tsv:2: 'money' should be a text, a tab"),
        ("The bank.\tmoney,\n", "senses.tsv:1: "),
        ("\n\n", "contains no texts"),
        ("The bank.\tmoney\nA bank.\tmoney\n", "has 1 senses for 2 occurrences of 'bank'"),
        ("The bank.\tmoney\nA bank.\triver\n", "has 2 senses for 2 occurrences of 'bank'"),
        ("The bank.\tmoney,river\nA bank.\triver\n", "has 'bank' 1 times, and 2 senses"),
        ("The house.\tmoney\nA house.\triver\n", "'bank' is not in any of the 2 texts"),
    ],
)
def test_what_tells_nothing_apart_is_said(
    minilm: TransformerEncoder, tmp_path: Path, content: str, said: str
) -> None:
    with pytest.raises(MalmoiError, match=said):
        sense_separation(minilm, "bank", write(tmp_path, content))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MalmoiError, match="does not exist"):
        read_senses(tmp_path / "none.tsv")
