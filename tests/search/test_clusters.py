from pathlib import Path

import numpy as np
import pytest

from malmoi.errors import BadFile, MalmoiWarning
from malmoi.search import clustering, ranking
from malmoi.search.building import build_index, open_index
from malmoi.search.index import Index
from malmoi.search.state import with_segment
from malmoi.vectors import Matrix, Vectors

pytest.importorskip("faiss")
ROWS, DIM = 6000, 24


def matrix() -> Matrix:
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
    assert index.state.clusters.probes < index.state.clusters.clusters
    assert share(index) >= 0.95
    (best,) = index.search("w17", 1)
    assert best.id == "w17"
    assert best.score == pytest.approx(1, abs=1e-6)


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
    monkeypatch.setattr(clustering, "can_cluster", lambda: False)
    monkeypatch.setattr(clustering, "WORTH", 10)
    with pytest.warns(MalmoiWarning, match="20 texts are searched one by one"):
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
    with pytest.raises(BadFile, match=f"{path.name} is damaged: build the index anew"):
        open_index(tmp_path / "i").search("1")
    path.unlink()
    with pytest.raises(BadFile, match=f"{path.name} is missing"):
        open_index(tmp_path / "i")
