"""What points can be coloured by."""

import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans

import malmoi as mm
from malmoi.nearest.k_means import find_clusters
from malmoi.project.points.fields import frequency_fields, label_field, script, speech_field
from malmoi.project.points.labels import UNLABELLED, read_labels
from malmoi.project.points.point_clusters import cluster_field
from malmoi.project.points.word_points import word_points
from malmoi.text.korean import Korean

NUMBERS = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)


def test_ranks_go_by_counts_where_they_are_known() -> None:
    rank, power = frequency_fields(mm.Vectors("abc", NUMBERS[:3], counts=[10, 1000, 100]))
    assert rank.values.tolist() == [3, 1, 2]
    assert power.values.tolist() == [1, 3, 2]
    (rank,) = frequency_fields(mm.Vectors("abc", NUMBERS[:3]))
    assert rank.values.tolist() == [1, 2, 3]


@given(st.lists(st.sampled_from("xyz"), min_size=1))
def test_labels_point_to_their_names_and_the_most_frequent_is_first(labels: list[str]) -> None:
    field = label_field("kind", labels)
    assert [field.labels[at] for at in field.values.tolist()] == labels
    assert labels.count(field.labels[0]) == max(labels.count(one) for one in labels)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("bank", "Latin"),
        ("é", "Latin"),
        ("한국", "Hangul"),
        (unicodedata.normalize("NFD", "한국"), "Hangul"),
        ("ㅋㅋ", "Hangul"),
        ("漢字", "Han"),
        ("かな", "Kana"),
        ("мир", "Cyrillic"),
        ("1984", "numbers"),
        ("...", "signs"),
        ("", "signs"),
        ("ไทย", "other scripts"),
    ],
)
def test_script_of_a_word(word: str, expected: str) -> None:
    assert script(word) == expected


def test_keys_with_tags_have_a_part_of_speech() -> None:
    field = speech_field(
        ["학교/NNG", "먹/VV", "걷/VV-I", "예쁘/VA", "은/JX", "을/JKO", "bank/SL", "1/2"]
    )
    assert field is not None
    named = [field.labels[at] for at in field.values.tolist()]
    assert named == ["noun", "verb", "verb", "adjective", "particle", "particle", "none", "none"]


def test_keys_without_tags_have_no_part_of_speech() -> None:
    assert speech_field(["은", "을", "를", "학교", "and/or", "AC/DC"]) is None


def test_tags_of_the_korean_tokenizer_are_understood() -> None:
    pytest.importorskip("kiwipiepy")
    field = speech_field(Korean(tags=True)("나는 사과를 먹었다"))
    assert field is not None
    assert set(field.labels) == {"pronoun", "particle", "noun", "verb", "ending"}


def test_labels_of_a_file_are_found_in_either_unicode_form(tmp_path: Path) -> None:
    path = tmp_path / "labels.tsv"
    path.write_text(f"{unicodedata.normalize('NFD', '배')}\tfruit\r\n\nz\tlost\n", "utf-8")
    field, notes = read_labels(path, ["배", "b", "c"])
    assert [field.labels[at] for at in field.values.tolist()] == ["fruit", UNLABELLED, UNLABELLED]
    assert "2 of 3 points have no label" in notes[0]
    assert "1 keys of" in notes[1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a\tx\nb x\n", "line 2: 'b x' is not a key, a tab and a label"),
        (b"a\t \n", "line 1"),
        (b"z\tx\n", "labels none of the 3 keys"),
        (b"\xff\xfe\n", "not UTF-8"),
        (b"", "empty"),
    ],
)
def test_bad_files_of_labels_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "labels.tsv").write_bytes(content)
    with pytest.raises(mm.InvalidFileError, match=said):
        read_labels(tmp_path / "labels.tsv", ["a", "b", "c"])


def test_clusters_are_as_tight_as_those_of_scikit_learn() -> None:
    chance = np.random.default_rng(2)
    centres = chance.normal(size=(5, 8)) * 6
    matrix = (centres[chance.integers(0, 5, 600)] + chance.normal(size=(600, 8))).astype("f4")
    which, found = find_clusters(matrix, 5, seed=1)
    ours = ((matrix - found[which]) ** 2).sum()
    assert ours <= KMeans(5, n_init=10, random_state=0).fit(matrix).inertia_ * 1.001
    again, _ = find_clusters(matrix, 5, seed=1)
    np.testing.assert_array_equal(which, again)
    assert (np.diff(np.bincount(which)) <= 0).all()


def test_clusters_are_named_by_the_keys_in_their_middle() -> None:
    matrix = np.array([[0, 0], [0.1, 0], [-0.3, 0], [9, 9], [9, 9.2], [0, 0.5]], "f4")
    field = cluster_field("abcdefg", np.vstack([matrix, [[9, 8.5]]]).astype("f4"), 2)
    assert field.values.tolist() == [0, 0, 0, 1, 1, 0, 1]
    assert field.labels == ("a, b, c", "d, e, g")


def test_fewer_different_points_than_clusters() -> None:
    which, centres = find_clusters(np.array([[1.0], [1], [2]], np.float32), 3)
    assert sorted(set(which.tolist())) == [0, 1]
    assert len(centres) == 2


def test_words_that_are_not_drawn_are_the_rest() -> None:
    vectors = mm.Vectors("abcdef", NUMBERS, counts=[1, 6, 3, 4, 5, 2])
    points = word_points(vectors, "few", most_frequent=3)
    assert "".join(points.vectors.keys) == "bed"
    assert points.rest is not None
    assert "".join(points.rest.keys) == "cfa"
    assert points.notes == ("the 3 most frequent of 6 are drawn",)
    assert word_points(vectors, "all", most_frequent=6).rest is None
    with pytest.raises(mm.InvalidArgumentError, match="most_frequent must be at least 1"):
        word_points(vectors, "none", most_frequent=0)
