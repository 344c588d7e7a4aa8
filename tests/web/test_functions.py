"""The page's pure functions, run by the browser that they are for."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from malmoi.query.analogy import parse_expression
from malmoi.web.modules import joined
from malmoi.web.self_contained import page_modules
from tests.web.browser import Browser

Run = Callable[[str, str], Any]


@pytest.fixture(scope="module")
def run(browser: Browser) -> Run:
    """What an expression over the exports of a module of the projector gives."""
    return runner(browser, "projector")


def runner(browser: Browser, name: str) -> Run:
    """What evaluates an expression over the exports of a module of a page."""
    modules = page_modules(name)

    def value(module: str, expression: str) -> Any:
        with browser.page("about:blank") as page:
            script = f"(() => {{ {joined(modules, module)} with_ = ${module}; }})()"
            page.value(f"let with_; {script}; globalThis.it = with_; 0")
            return page.value(expression)

    return value


def test_initials_and_half_syllables_become_patterns(run: Run) -> None:
    typed = ["ㅎㄱ", "하", "한", "a.b", "ㅋㅋ", "K-드라마", "^ㅎ/]"]
    words = ["한국", "학교", "항", "한", "a.b", "axb", "ㅋㅋ", "콩쥐", "k-드라마", "^하/]"]
    found = run(
        "hangul",
        f"{typed}.map(typed => new RegExp(`^${{it.pattern(typed)}}$`, 'u'))"
        f".map(one => {words}.filter(word => one.test(word)))",
    )
    assert found == [
        ["한국", "학교"],
        ["항", "한"],
        ["한"],
        ["a.b"],
        ["ㅋㅋ"],
        ["k-드라마"],
        ["^하/]"],
    ]


def test_same_then_prefix_then_inside_and_rows_with_line_ends(run: Run) -> None:
    found = run(
        "search",
        "(finder => ['art', 'start up', '^', ''].map(typed => finder.find(typed, 10)))"
        "(new it.Finder(['start\\nup', 'party', 'artist', 'art', 'Art', '^_^']))",
    )
    assert found == [[3, 4, 2, 0, 1], [0], [5], []]


@pytest.mark.parametrize(
    "text",
    [
        "king - man + woman",
        "한국-서울+도쿄",
        "2*king − 'New York' + x-ray",
        '"a b" + .5 × c',
        "- a",
    ],
)
def test_expressions_are_read_as_the_library_reads_them(run: Run, text: str) -> None:
    expected = [{"word": term.word, "weight": term.weight} for term in parse_expression(text)]
    assert run("analogy", f"it.parseExpression({json.dumps(text)})") == expected


@pytest.mark.parametrize("text", ["", "a b", "a + - b", "a +", "''"])
def test_expressions_that_the_library_refuses_are_refused(run: Run, text: str) -> None:
    asked = f"try {{ it.parseExpression({json.dumps(text)}); 'read' }} catch {{ 'refused' }}"
    assert run("analogy", asked) == "refused"


def test_names_never_lie_over_each_other(run: Run) -> None:
    labels = run(
        "labels",
        """(() => {
          let last = 7;
          const random = () => (last = last * 16807 % 2147483647) / 2147483647;
          const spread = (size) => Float32Array.from({ length: 3000 }, () => random() * size);
          const size = { width: 800, height: 600, line: 16, gap: 6, origin: [13, -700],
                         named: new Set([1]) };
          return it.placeLabels({ x: spread(800), y: spread(600) }, new it.Ground(800, 600),
                                row => `word ${row}`, text => 7 * text.length, size);
        })()""",
    )
    assert len(labels) > 40
    assert labels[0]["row"] == 0
    assert 1 not in [one["row"] for one in labels]  # it has its name
    for i, one in enumerate(labels):
        for other in labels[:i]:
            apart_x = abs(one["x"] - other["x"]) >= min(one["width"], other["width"])
            apart_y = abs(one["y"] - other["y"]) >= 16
            assert apart_x or apart_y


def test_claimed_ground_is_taken_and_may_lie_outside(run: Run) -> None:
    free = run(
        "labels",
        """(() => {
          const ground = new it.Ground(100, 50);
          ground.claim(80, -20, 60, 30);
          ground.claim(10, 10, 20, 10);
          return [ground.take(82, 2, 8, 4), ground.take(12, 12, 4, 4), ground.take(40, 30, 30, 8)];
        })()""",
    )
    assert free == [False, False, True]


def test_most_points_fit_into_the_picture(run: Run) -> None:
    ends = run(
        "space",
        """(() => {
          const steps = Uint16Array.from({ length: 4000 }, (_, i) => 30000 + i % 1000);
          steps[7] = 65535;
          const described = { shape: [2000, 2], low: [-10, 5], step: [0.1, 0.2] };
          const { values, raw } = it.placed(steps, described);
          const most = Math.max(...values.filter((_, i) => i !== 7));
          return [Math.min(...values), most, values[7] > 10, raw(3, 1)];
        })()""",
    )
    assert -1.01 < ends[0] < -0.4
    assert 0.4 < ends[1] < 1.01
    assert ends[2] is True
    assert ends[3] == pytest.approx(5 + 65535 * 0.2)


def test_numbers_are_written_as_they_are_read(run: Run) -> None:
    numbers = "[2007, 12345, 1700000001, 0.123456, 12345.678, NaN].map(it.shortNumber)"
    assert run("space", numbers) == ["2007", "12,345", "1,700,000,001", "0.1235", "12,350", "—"]
    records = run(
        "exporting",
        """(() => {
          const raw = () => 0;
          const fields = [new Float32Array([0.1, 1234567]), new Float64Array([0.1, 1700000001]),
            new Float32Array([NaN, 2])];
          return it.records({ keys: ["a", "b"], plane: { raw }, solid: { raw }, fields:
            fields.map((values, i) => ({ name: `n${i}`, kind: "number", values })) }, [0, 1])
            .map(({ n0, n1, n2 }) => [n0, n1, n2]);
        })()""",
    )
    assert records == [[0.1, 0.1, None], [1234567, 1700000001, 2]]


def test_fields_do_not_take_the_place_of_what_every_point_has(run: Run) -> None:
    (record,) = run(
        "exporting",
        """it.records({ keys: ["a"], plane: { raw: () => 1 }, solid: { raw: () => 2 },
          details: ["d"], fields: ["key", "x", "details", "n"].map((name) =>
            ({ name, kind: "number", values: new Float64Array([7]) })) }, [0])""",
    )
    assert (record["key"], record["x"], record["details"], record["n"]) == ("a", 1, "d", 7)
    assert [record[f"{name} (field)"] for name in ("key", "x", "details")] == [7, 7, 7]


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("a word", "a word"),
        ("가" * 28, "가" * 28),
        ("가" * 29, "가" * 27 + "…"),
        ("👩‍👩‍👧‍👦" * 29, "👩‍👩‍👧‍👦" * 27 + "…"),
        ("é" * 28, "é" * 28),
        ("é" * 29, "é" * 27 + "…"),
    ],
)
def test_long_names_are_cut_between_characters(run: Run, key: str, shown: str) -> None:
    found = run("labels", f"it.shortened({json.dumps(key)})")
    assert found == shown


def test_colours_of_numbers_go_from_faint_to_strong_on_either_paper(run: Run) -> None:
    light, dark = run(
        "colours",
        "['light', 'dark'].map(mode => [0, .25, .5, .75, 1].map(at => it.scaleColour(at, mode)))",
    )

    def lightness(colour: list[int]) -> float:
        return 0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2]

    assert [lightness(c) for c in light] == sorted((lightness(c) for c in light), reverse=True)
    assert [lightness(c) for c in dark] == sorted(lightness(c) for c in dark)


def test_hostile_answers_of_a_server_are_one_sentence(run: Run) -> None:
    answers = ["null", "5", "'a'", "{}", "[null]", "[{}]", "[{key: 1, score: 1}]",
               "[{key: 'a', score: null}]", "[{key: 'a', score: 'x'}]"]  # fmt: skip
    space = "{find: () => 0}"
    attempt = (
        f"one => {{ try {{ return it.found({space}, one); }} catch (e) {{ return e.message; }} }}"
    )
    said = run("asking", f"[{', '.join(answers)}, undefined].map({attempt})")
    assert said == ["The server's answer is no list of words. Is it malmoi's?"] * 10
    fine = run("asking", f"it.found({space}, [{{key: 'a', score: 0.5}}])")
    assert fine == [{"key": "a", "score": 0.5, "row": 0, "digits": 4}]
    errors = ["null", "5", "[]", "{error: null}", "{error: {message: 5}}", "{error: 'no'}",
              "{error: {message: 'no'}}"]  # fmt: skip
    assert run("asking", f"[{', '.join(errors)}].map(it.sentence)") == [None] * 5 + ["no"] * 2
