"""Texts too long for an encoder: found by any of their passages, kept and deleted as one."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.search import writer
from malmoi.search.build import build_index, open_index
from malmoi.search.index import Index
from malmoi.search.storage.entry import Entry
from malmoi.search.update import update_index
from tests.search.worlds import BagOfWords

LONG = "the bank raised its rate\nrivers flow to the sea\nprices fell in may"
TEXTS = [LONG, "rivers", "a man plays guitar", "one\ntwo\nthree\nfour"]
FIELDS = [{"kind": "long"}, {"kind": "short"}, {"kind": "short"}, {"kind": "long"}]


@dataclass(frozen=True)
class Lines(BagOfWords):
    """A bag of words that reads a line and no more."""

    def passages(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        return [self.lines(text) for text in texts]

    def lines(self, text: str) -> list[tuple[int, int]]:
        found, start = [], 0
        for line in text.split("\n"):
            found.append((start, start + len(line)))
            start += len(line) + 1
        return found


LINES = Lines()


def index(path: Path | None = None) -> Index:
    return build_index(LINES, TEXTS, ids=["a", "b", "c", "d"], fields=FIELDS, path=path)


def test_a_text_is_found_by_its_end_with_the_place_of_it(tmp_path: Path) -> None:
    index(tmp_path / "i")
    for seen in (index(), open_index(tmp_path / "i", LINES)):
        hit = seen.search("prices fell in may", 1)[0]
        assert (hit.id, hit.text, hit.passage) == ("a", LONG, "prices fell in may")
        assert hit.span == (LONG.index("prices"), len(LONG))
        assert hit.score == pytest.approx(1, abs=1e-5)
        (short,) = seen.search("a man plays guitar", 1)
        assert (short.span, short.passage) == (None, TEXTS[2])


def test_a_text_comes_once_however_many_of_its_passages_fit() -> None:
    for hybrid in (False, True):
        hits = index().search("the sea may rate three", 10, hybrid=hybrid)
        assert sorted(hit.id for hit in hits) == ["a", "b", "c", "d"]
    assert [hit.id for hit in index().search("rivers prices", lexical=True)] == ["a", "b"]


def test_filters_are_on_texts() -> None:
    found = index().search("rivers", where={"kind": "long"})
    assert [hit.id for hit in found] == ["a", "d"]
    assert found[0].passage == "rivers flow to the sea"


def test_a_text_is_replaced_and_deleted_with_all_its_passages(tmp_path: Path) -> None:
    made = index(tmp_path / "i")
    made.add(["quite\nanother\nthing"], ids=["a"])
    assert made.delete(["d"]) == 1
    for seen in (made, open_index(tmp_path / "i", LINES)):
        assert len(seen) == 3
        assert seen.state.vector_count == 5
        assert seen.search("another", 1)[0].passage == "another"
        best = seen.search("prices fell in may", 3)
        assert all("prices" not in hit.text for hit in best)
        assert sorted(seen.vectors.keys) == ["a", "b", "c"]
    made.delete(["a", "b", "c"])
    assert made.search("another") == []


@given(st.lists(st.integers(1, 5), min_size=1, max_size=12), st.integers(0, 2**32), st.data())
def test_search_equals_the_best_passage_of_each_text_by_brute_force(
    sizes: list[int], seed: int, data: st.DataObject
) -> None:
    random = np.random.default_rng(seed)
    texts = ["\n".join(f"w{random.integers(30)}" for _ in range(size)) for size in sizes]
    cut = data.draw(st.integers(0, len(texts)))
    made = build_index(LINES, texts[:cut], ids=map(str, range(cut)))
    made.add(texts[cut:], ids=map(str, range(cut, len(texts))))
    gone = {str(i) for i in np.flatnonzero(random.random(len(texts)) < 0.3)}
    made.delete(gone)
    (query,) = LINES.encode([f"w{random.integers(30)} w{random.integers(30)}"])
    best = {}
    for i, text in enumerate(texts):
        rows = LINES.encode(text.split("\n"))
        near = rows @ query / np.linalg.norm(rows, axis=1) / np.linalg.norm(query)
        best[str(i)] = float(near.max())
    expected = sorted((score for id, score in best.items() if id not in gone), reverse=True)
    k = data.draw(st.integers(1, 12))
    hits = made.search(query, k)
    np.testing.assert_allclose([hit.score for hit in hits], expected[:k], atol=1e-5)
    for hit in hits:
        assert hit.score == pytest.approx(best[hit.id], abs=1e-5)
        (row,) = LINES.encode([hit.passage])
        near = row @ query / np.linalg.norm(row) / np.linalg.norm(query)
        assert near == pytest.approx(hit.score, abs=1e-5)


def test_only_changed_texts_are_embedded_again(tmp_path: Path) -> None:
    seen: list[str] = []
    noting = Lines("bag", 16, (seen,))
    entries = [Entry(str(i), text) for i, text in enumerate(TEXTS)]
    done = update_index(tmp_path / "i", noting, entries)
    assert (done.texts, done.passages, done.embedded) == (4, 9, 4)
    seen.clear()
    moved = [Entry(f"new{i}", text) for i, text in enumerate([*TEXTS, "five\nsix"])]
    done = update_index(tmp_path / "i", noting, moved)
    assert (done.texts, done.passages, done.embedded) == (5, 11, 1)
    assert seen[1:3] == ["five", "six"]  # then pseudo-queries: every id is new
    opened = open_index(tmp_path / "i", noting)
    assert opened.search("prices fell in may", 1)[0].passage == "prices fell in may"


def test_without_passages_a_text_has_one_vector(tmp_path: Path) -> None:
    whole = build_index(LINES, TEXTS, passages=False, path=tmp_path / "i")
    assert whole.state.vector_count == 4
    assert whole.search("prices fell in may", 1)[0].span is None
    with pytest.raises(
        InvalidArgumentError, match="the index was built without passages: build a new index to"
    ):
        update_index(tmp_path / "i", LINES, [Entry("0", LONG)], passages=True)
    done = update_index(tmp_path / "i", LINES, [Entry("0", LONG + "\nmore")])
    assert done.passages == 1  # it goes on as it was made


def test_clusters_find_passages(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("faiss")
    monkeypatch.setattr(writer, "APPROXIMATE_FROM", 1000)
    random = np.random.default_rng(5)
    texts = ["\n".join(f"w{a} w{b}" for a, b in random.integers(90, size=(4, 2)))
             for _ in range(800)]  # fmt: skip
    made = build_index(LINES, texts)
    assert made.state.clusters is not None  # by their passages, of which there are more
    for query in ("w3 w5", "w8 w13", "w21 w34"):
        scores = [hit.score for hit in made.search(query)]
        exact = [hit.score for hit in made.search(query, exact=True)]
        assert len({hit.id for hit in made.search(query)}) == 10
        assert np.mean([score >= exact[-1] - 1e-6 for score in scores]) >= 0.9


def test_damaged_passages_are_told(tmp_path: Path) -> None:
    index(tmp_path / "i")
    (path,) = (tmp_path / "i").glob("segment-*")
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"passage_spans", b"passage_spins"))
    with pytest.raises(InvalidFileError, match="damaged"):
        open_index(tmp_path / "i")
