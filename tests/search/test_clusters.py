from pathlib import Path

import numpy as np
import pytest

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidFileError, MalmoiWarning
from malmoi.search import writer
from malmoi.search.build import build_index, open_index
from malmoi.search.index import Index
from malmoi.search.local_index import LocalIndex
from malmoi.search.querying import ranking
from malmoi.search.querying.hits import Hit
from malmoi.search.storage.state import with_segment
from malmoi.vectors import Vectors
from tests.search.worlds import edit_manifest

pytest.importorskip("faiss")
ROWS, DIM = 6000, 24


def matrix() -> Float32Array:
    """Rows about some centres, as real vectors are."""
    random = np.random.default_rng(3)
    centres = random.normal(size=(60, DIM))
    rows = centres[random.integers(60, size=ROWS)] + 0.7 * random.normal(size=(ROWS, DIM))
    return rows.astype(np.float32)


@pytest.fixture(scope="module")
def index() -> Index:
    rows = matrix()
    fields = [{"even": i % 2 == 0, "rare": i % 100 == 0} for i in range(ROWS)]
    return build_index(
        Vectors([f"w{i}" for i in range(ROWS)], rows), fields=fields, approximate=True
    )


def names(hits: list[Hit]) -> list[str]:
    return [hit.id for hit in hits]


def share(index: Index, **options: object) -> float:
    """Of the ten nearest to made-up queries, how many are found."""
    queries = matrix()[:200] + np.random.default_rng(4).normal(size=(200, DIM)) * 0.3
    found = [
        ({hit.id for hit in index.search(query, **options)},  # type: ignore[arg-type]
         {hit.id for hit in index.search(query, exact=True, **options)})  # type: ignore[arg-type]
        for query in queries.astype(np.float32)
    ]  # fmt: skip
    return float(np.mean([len(near & truth) / len(truth) for near, truth in found]))


def test_most_of_the_nearest_are_found_with_their_exact_scores(index: Index) -> None:
    assert index.state.clusters is not None
    assert index.state.clusters.recall >= 0.95
    assert share(index) >= 0.95
    (best,) = index.search("w17", 1)
    assert best.id == "w17"
    assert best.score == pytest.approx(1, abs=1e-6)


def test_recall_is_told_for_queries_that_are_not_rows(index: Index) -> None:
    clusters = index.state.clusters
    assert clusters is not None
    assert clusters.recall_perturbed is not None
    assert clusters.recall_random is not None
    assert clusters.recall == min(clusters.recall_perturbed, clusters.recall_random)
    random = np.random.default_rng(8).normal(size=(300, DIM)).astype(np.float32)
    found = [
        len({*names(index.search(each))} & {*names(index.search(each, exact=True))})
        for each in random
    ]
    assert np.mean(found) / 10 >= 0.93
    assert abs(np.mean(found) / 10 - clusters.recall_random) < 0.03


def test_tight_clusters_state_the_recall_of_random_queries() -> None:
    """Rows that nearly coincide are found easily by themselves, and not by other queries."""
    random = np.random.default_rng(6)
    centres = random.normal(size=(200, DIM))
    rows = np.repeat(centres, 15, axis=0) + 0.05 * random.normal(size=(3000, DIM))
    index = build_index(Vectors(map(str, range(3000)), rows), approximate=True)
    assert index.state.clusters is not None
    asked = random.normal(size=(200, DIM)).astype(np.float32)
    found = [
        len({*names(index.search(each))} & {*names(index.search(each, exact=True))})
        for each in asked
    ]
    assert np.mean(found) / 10 >= index.state.clusters.recall - 0.03
    assert np.mean(found) / 10 >= 0.92


def test_rows_of_zeros_are_in_no_cluster_and_kill_nobody() -> None:
    rows = matrix()
    rows[::200] = 0
    index = build_index(Vectors([f"w{i}" for i in range(ROWS)], rows), approximate=True)
    assert index.state.clusters is not None
    assert index.state.clusters.index.ntotal == ROWS - 30
    assert share(index) >= 0.94
    (best,) = index.search("w17", 1)
    assert best.id == "w17"  # rows keep their numbers
    assert len(index.search("w17", ROWS)) == ROWS


@pytest.mark.parametrize("rows", [1, 20, 999])
def test_too_few_rows_for_clusters_are_searched_exactly(rows: int) -> None:
    vectors = Vectors(map(str, range(rows)), matrix()[:rows])
    with pytest.warns(MalmoiWarning, match=f"vectors that are not zero, and there are {rows}"):
        index = build_index(vectors, approximate=True)
    assert index.state.clusters is None
    assert index.search("0", 1)[0].id == "0"


def test_zeros_alone_and_equal_rows_make_no_trouble() -> None:
    with pytest.warns(MalmoiWarning, match="there are 0: every"):
        build_index(Vectors(map(str, range(2000)), np.zeros((2000, 8))), approximate=True)
    equal = build_index(Vectors(map(str, range(2000)), np.ones((2000, 8))), approximate=True)
    assert len(equal.search("7", 10)) == 10
    assert equal.state.clusters is None or equal.state.clusters.recall == 1


def test_clusters_of_an_older_index_are_read(tmp_path: Path) -> None:
    path = tmp_path / "i"
    build_index(Vectors(map(str, range(2000)), matrix()[:2000]), approximate=True, path=path)
    later = ("recall_perturbed", "recall_random", "far_probes", "near")
    edit_manifest(path, lambda manifest: [manifest["clusters"].pop(name) for name in later])
    old = open_index(path)
    assert old.state.clusters is not None
    assert "recall_random" not in old.state.clusters.facts
    assert old.search("5", 1)[0].id == "5"


def test_filters_find_as_much(index: Index) -> None:
    assert share(index, where={"even": True}) >= 0.95
    assert share(index, where={"rare": True}) == 1  # few rows are looked at exactly
    assert len(index.search("w1", 50, where={"rare": True})) == 50


def test_rows_added_and_deleted_later_are_seen(tmp_path: Path) -> None:
    rows = matrix()
    index = build_index(
        Vectors([f"w{i}" for i in range(5900)], rows[:5900]), approximate=True, path=tmp_path / "i"
    )
    index.delete([f"w{i}" for i in range(0, 1000)])
    more = build_index(Vectors([f"w{i}" for i in range(5900, ROWS)], rows[5900:]))
    assert isinstance(index, LocalIndex)
    index.change(lambda state: with_segment(state, more.state.segments[0]))
    for seen in (index, open_index(tmp_path / "i")):
        assert seen.state.clusters is not None
        assert share(seen) >= 0.95
        assert seen.search(rows[5950], 1)[0].id == "w5950"
        assert "w17" not in {hit.id for hit in seen.search(rows[17], 10)}
    index.save(tmp_path / "copy")
    assert share(open_index(tmp_path / "copy")) >= 0.95


def test_without_faiss_all_vectors_are_looked_at(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "can_cluster", lambda: False)
    with pytest.warns(MalmoiWarning, match="faiss is not installed"):
        found = index.search("w1")
    assert found == index.search("w1", exact=True)
    monkeypatch.setattr(writer, "can_cluster", lambda: False)
    monkeypatch.setattr(writer, "APPROXIMATE_FROM", 10)
    with pytest.warns(MalmoiWarning, match="20 texts are searched exhaustively"):
        few = build_index(Vectors([str(i) for i in range(20)], np.eye(20)))
    assert few.state.clusters is None


def test_damaged_clusters_are_told(tmp_path: Path) -> None:
    build_index(
        Vectors([str(i) for i in range(2000)], matrix()[:2000]),
        approximate=True,
        path=tmp_path / "i",
    )
    (path,) = (tmp_path / "i").glob("clusters-*")
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(InvalidFileError, match=f"{path.name} is damaged: build the index anew"):
        open_index(tmp_path / "i").search("1")
    path.unlink()
    with pytest.raises(InvalidFileError, match=f"{path.name} is missing"):
        open_index(tmp_path / "i")


def test_nothing_is_printed_while_clusters_are_made(capfd: pytest.CaptureFixture[str]) -> None:
    build_index(Vectors(map(str, range(2000)), matrix()[:2000]), approximate=True)
    assert capfd.readouterr() == ("", "")
