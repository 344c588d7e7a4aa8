import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.errors import InvalidArgumentError
from malmoi.plots.heat_map import heat_map
from malmoi.plots.histogram import histogram, ticks
from malmoi.plots.interval_plot import IntervalRow, interval_plot
from malmoi.plots.line_plot import line_plot
from malmoi.plots.scatter_plot import scatter_plot
from malmoi.plots.svg import shade, text_width, write_svg

SVG = "{http://www.w3.org/2000/svg}"


def texts(drawn: str) -> list[str]:
    return [part.text or "" for part in ElementTree.fromstring(drawn).iter(f"{SVG}text")]


def test_a_heat_map_says_every_value_and_marks_the_best() -> None:
    values: list[list[float | None]] = [[0.25, None], [0.5, -1.0]]
    drawn = heat_map(values, ["<층>", "둘"], ["cls", "mean\nno & yes"], title="t", best=(1, 0))
    assert texts(drawn) == [
        "t", "cls", "mean", "no & yes", "<층>", "0.250", "—", "둘", "0.500", "-1.000",
    ]  # fmt: skip
    fills = re.findall(r'fill="(#\w{6})" stroke="none"', drawn)
    assert (fills[2], fills[3]) == (shade(1), shade(0)), "the highest is dark, the lowest light"
    assert drawn.count('stroke="#e0701a"') == 1


@given(st.lists(st.lists(st.none() | st.floats(-1, 1), min_size=2, max_size=2), max_size=4))
def test_any_values_make_a_document(values: list[list[float | None]]) -> None:
    names = [f"row \x07 {i}" for i in range(len(values))]
    drawn = ElementTree.fromstring(heat_map(values, names, ["a", "b"], title="\x00 & <"))
    width, height = (float(drawn.get(side, "")) for side in ("width", "height"))
    for box in list(drawn.iter(f"{SVG}rect"))[1:]:
        at = {name: float(box.get(name, "")) for name in ("x", "y", "width", "height")}
        assert at["x"] + at["width"] <= width
        assert at["y"] + at["height"] <= height


def test_a_histogram_counts_as_numpy_does() -> None:
    values = np.random.default_rng(2).normal(size=500)
    drawn = histogram(values, title="layer 5", bins=20)
    boxes = list(ElementTree.fromstring(drawn).iter(f"{SVG}rect"))[1:]
    heights = np.array([float(box.get("height", "")) for box in boxes])
    counts, _ = np.histogram(values, bins=20)
    np.testing.assert_allclose(heights / heights.max(), counts / counts.max(), atol=1e-3)
    assert texts(drawn)[0] == "layer 5"
    assert texts(drawn)[1].startswith("500 numbers from ")


@pytest.mark.parametrize("values", [[], [1.0, float("nan")], [float("inf")]])
def test_a_histogram_of_nothing_is_refused(values: list[float]) -> None:
    with pytest.raises(InvalidArgumentError, match="a histogram needs"):
        histogram(values, title="none")


def test_a_histogram_of_one_value_is_drawn() -> None:
    assert "3 numbers from 2 to 2" in histogram([2.0, 2.0, 2.0], title="same")


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_round_and_within(low: float, size: float) -> None:
    found = ticks(low, low + size)
    assert 2 <= len(found) <= 8
    steps = np.diff(found)
    assert np.allclose(steps, steps[0])
    assert f"{steps[0]:.1e}"[:3] in ("1.0", "2.0", "5.0")
    assert all(low - 1e-6 * size <= tick <= low + size * (1 + 1e-6) for tick in found)


def test_korean_letters_are_twice_as_wide() -> None:
    assert text_width("한국") > 1.7 * text_width("ab")


def test_files_are_svg_alone(tmp_path: Path) -> None:
    write_svg(tmp_path / "x.svg", "<svg/>")
    assert (tmp_path / "x.svg").read_text() == "<svg/>"
    with pytest.raises(InvalidArgumentError, match="end its name in"):
        write_svg(tmp_path / "x.png", "<svg/>")
    assert not (tmp_path / "x.png").exists()


def test_an_interval_plot_has_a_point_and_a_line_per_score() -> None:
    rows = [
        IntervalRow("한국어 <task>", [(0.5, 0.4, 0.6), (0.8, 0.7, 0.9)]),
        IntervalRow("undefined", [(None, None, None), (0.3, None, None)]),
    ]
    root = ElementTree.fromstring(interval_plot(rows, ["one", "other"], title="Scores"))
    circles = root.findall("{*}circle")
    assert len(circles) == 2 + 3  # the legend, and the scores that exist
    wide = [path for path in root.findall("{*}path") if path.get("stroke-width") == "2"]
    assert len(wide) == 2
    xs = [float(circle.get("cx") or 0) for circle in circles[2:]]
    assert xs[2] < xs[0] < xs[1]
    assert "한국어 <task>" in [text.text for text in root.findall("{*}text")]


def test_an_interval_plot_of_one_value_or_none_is_drawn() -> None:
    for points in ([(0.5, 0.5, 0.5)], [(None, None, None)]):
        drawn = interval_plot([IntervalRow("a", points)], ["model"], title="t")
        assert "nan" not in drawn
        ElementTree.fromstring(drawn)


def test_a_scatter_plot_keeps_distances_and_colours_groups() -> None:
    points = [[0, 0], [3, 0], [0, 4]]
    drawn = scatter_plot(points, ["a", "<b>", "왕"], ["one", "one", "two"], title="Map")
    root = ElementTree.fromstring(drawn)
    circles = root.findall("{*}circle")[2:]  # after the legend
    places = np.array(
        [[float(circle.get(name) or 0) for name in ("cx", "cy")] for circle in circles]
    )
    sides = [np.linalg.norm(places[i] - places[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    np.testing.assert_allclose(np.array(sides) / sides[0], [1, 4 / 3, 5 / 3], atol=1e-2)
    assert places[2, 1] < places[0, 1], "the second axis points up"
    fills = [circle.get("fill") for circle in circles]
    assert fills[0] == fills[1] != fills[2]
    assert texts(drawn) == ["Map", "one", "two", "a", "<b>", "왕"]


def test_a_scatter_plot_of_one_point_is_drawn() -> None:
    assert texts(scatter_plot([[2.0, 2.0]], ["only"], title="t")) == ["t", "only"]


@pytest.mark.parametrize(
    ("points", "labels"), [([], []), ([[1.0]], ["a"]), ([[1, float("nan")]], ["a"]), ([[1, 2]], [])]
)
def test_a_scatter_plot_refuses_what_it_cannot_draw(
    points: list[object], labels: list[str]
) -> None:
    with pytest.raises(InvalidArgumentError, match="points"):
        scatter_plot(points, labels, title="none")  # type: ignore[arg-type]


def test_a_line_plot_has_a_line_per_series_that_falls_with_it() -> None:
    drawn = line_plot([1, 2, 4], {"loss": [3.0, 2.0, 1.0], "층": [2, 2, 2]}, title="Training")
    lines = ElementTree.fromstring(drawn).findall("{*}polyline")
    falling, level = (
        np.array([point.split(",") for point in (one.get("points") or "").split()], float)
        for one in lines
    )
    np.testing.assert_allclose(np.diff(falling[:, 1]), [110, 110], atol=0.2)
    np.testing.assert_allclose(np.diff(falling[:, 0]), [160, 320], atol=0.2)
    assert len(set(level[:, 1])) == 1
    assert texts(drawn)[0] == "Training"
    assert {"loss", "층"} < set(texts(drawn))


@pytest.mark.parametrize(
    ("x", "series", "match"),
    [
        ([1], {"a": [1]}, "two or more"),
        ([2, 1], {"a": [1, 2]}, "rising"),
        ([1, 2], {}, "at least one series"),
        ([1, 2], {"a": [1]}, "'a' needs 2 finite"),
        ([1, 2], {"a": [1, float("inf")]}, "'a' needs 2 finite"),
    ],
)
def test_a_line_plot_refuses_what_it_cannot_draw(
    x: list[float], series: dict[str, list[float]], match: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=match):
        line_plot(x, series, title="none")
