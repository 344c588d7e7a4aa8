"""Pictures keep islands apart, are the same for the same seed, and say by what they were drawn."""

import sys
from typing import get_args

import numpy as np
import pytest

import malmoi as mm
from malmoi.arrays import Int64Array
from malmoi.project.reduce import reduction
from malmoi.project.reduce.nearest_points import near_lists
from malmoi.project.reduce.reduction import ReductionMethod, reduce
from malmoi.project.scene_builder import ProjectionSettings, build_scene
from tests.recording_reporter import RecordingReporter

METHODS = [method for method in get_args(ReductionMethod) if method != "auto"]


def islands(each: int = 40, dim: int = 12) -> tuple[mm.Vectors, Int64Array]:
    chance = np.random.default_rng(5)
    centres = chance.normal(size=(4, dim)) * 10
    which = np.repeat(np.arange(4), each)
    matrix = centres[which] + chance.normal(size=(4 * each, dim))
    return mm.Vectors([f"w{i}" for i in range(4 * each)], matrix.astype(np.float32)), which


@pytest.mark.parametrize("method", METHODS)
def test_points_that_lie_together_are_drawn_together(method: ReductionMethod) -> None:
    vectors, which = islands()
    (space,) = build_scene(vectors, settings=ProjectionSettings(method=method)).spaces
    for places in (space.coords_2d, space.coords_3d):
        far = np.linalg.norm(places[:, np.newaxis] - places, axis=2)
        np.fill_diagonal(far, np.inf)
        assert (which[far.argmin(axis=1)] == which).mean() > 0.97
    assert space.reduction == {"pca": "PCA", "tsne": "t-SNE", "pacmap": "PaCMAP"}[method]


@pytest.mark.parametrize("method", METHODS)
def test_same_seed_same_picture(method: ReductionMethod) -> None:
    vectors, _ = islands(20)
    once, again = (
        build_scene(vectors, settings=ProjectionSettings(method=method, seed=3)).spaces[0]
        for _ in "ab"
    )
    np.testing.assert_array_equal(once.coords_2d, again.coords_2d)
    np.testing.assert_array_equal(once.coords_3d, again.coords_3d)
    assert once.neighbour_preservation == again.neighbour_preservation


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [3, 4, 7, 20])
def test_few_points_are_drawn_by_every_method(method: ReductionMethod, count: int) -> None:
    vectors = islands()[0][:count]
    near = near_lists(vectors, 15)["euclidean"]
    picture = reduce(vectors.matrix, near, method)
    assert np.isfinite(picture.coords_2d).all()
    assert np.isfinite(picture.coords_3d).all()


def test_vectors_of_one_number_and_of_equal_pairs_are_drawn() -> None:
    line = np.arange(60, dtype=np.float32)[:, np.newaxis]
    twins = np.repeat(islands()[0].matrix[::4], 3, axis=0)
    for matrix in (line, twins):
        words = [f"w{i}" for i in range(len(matrix))]
        settings = ProjectionSettings(metric="euclidean")
        (space,) = build_scene(mm.Vectors(words, matrix), settings=settings).spaces
        assert np.isfinite(space.coords_2d).all()


def test_method_goes_by_the_number_of_points() -> None:
    sizes = [3, reduction.PCA_BELOW, reduction.PACMAP_ABOVE, reduction.PACMAP_ABOVE + 1]
    assert [reduction.choose_method(size) for size in sizes] == ["pca", "tsne", "tsne", "pacmap"]


def test_without_the_extra_it_is_pca_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openTSNE", None)
    vectors, _ = islands()
    (space,) = build_scene(vectors).spaces
    assert space.reduction == "PCA"
    assert any("pip install 'malmoi[project]'" in note for note in space.notes)
    with pytest.raises(mm.MissingDependencyError, match="openTSNE"):
        build_scene(vectors, settings=ProjectionSettings(method="tsne"))


def test_unknown_method_is_refused() -> None:
    with pytest.raises(
        mm.InvalidArgumentError, match="'umap' is not a method: choose one of auto, pca"
    ):
        ProjectionSettings(method="umap")  # type: ignore[arg-type]


def test_nobody_prints(capfd: pytest.CaptureFixture[str]) -> None:
    vectors, _ = islands(20)
    reporter = RecordingReporter()
    for method in METHODS:
        build_scene(vectors, settings=ProjectionSettings(method=method), reporter=reporter)
    assert capfd.readouterr() == ("", "")
    for stage in ("finding neighbours", "t-SNE", "PaCMAP", "PaCMAP in 3D"):
        done, total = reporter.stages[stage][-1]
        assert done == total
