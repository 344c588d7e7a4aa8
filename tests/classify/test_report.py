"""The report of a comparison: one file that needs no other, in which texts are never markup."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from malmoi.classify.compare.report import MATRIX_LABELS, write_report
from malmoi.classify.compare.result import Comparison
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.evaluate.scores import Score
from tests.classify.comparisons import LABELS, comparison

HOSTILE = "</script><script>globalThis.hit = 1</script><img src=x onerror=hit> | `*a*`\n# b"


def hostile() -> Comparison:
    """Markup wherever a text of the user can be."""
    made, names = comparison(), (HOSTILE, *LABELS[1:])
    mistakes = tuple(
        replace(one, text=HOSTILE, label=HOSTILE, parts=((HOSTILE, one.predicted, 1.0),))
        for one in made.models[0].mistakes
    )
    models = tuple(
        replace(one, name=f"{one.name} {HOSTILE}", kind=HOSTILE, mistakes=mistakes)
        for one in made.models
    )
    return replace(
        made,
        data=HOSTILE,
        labels=names,
        models=models,
        failed=((HOSTILE, HOSTILE),),
        recommended=models[1].name,
        sentence=HOSTILE,
        notes=(HOSTILE,),
        machine=HOSTILE,
    )


def embedded(page: str) -> dict[str, object]:
    """The data in a page."""
    (data,) = re.findall(r'<script type="application/json" id="comparison">(.*?)</script>', page)
    found: dict[str, object] = json.loads(data)
    return found


def test_the_page_refers_to_nothing_outside(tmp_path: Path) -> None:
    write_report(comparison(), tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "http:" not in page
    assert "https:" not in page
    assert re.findall(r'\b(?:src|href)="([^"]*)"', page) == ["data:,", "#models"]
    assert "default-src 'none'" in page
    assert "connect-src 'none'" in page
    assert "unsafe" not in page


def test_texts_are_never_markup(tmp_path: Path) -> None:
    write_report(hostile(), tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("<script") == 2  # the data, and the script
    assert "<img" not in page
    assert embedded(page)["data"] == HOSTILE
    write_report(hostile(), tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert not re.search(r"(?<!\\)[<`]", text)
    assert "\n\\# b" not in text
    assert len({line.replace("\\|", "").count("|") for line in table_of(text)}) == 1


def table_of(text: str) -> list[str]:
    """The lines of the first table of a Markdown text."""
    return text[text.index("\n| ") :].partition("\n\n")[0].strip().splitlines()


def test_json_holds_the_whole_comparison(tmp_path: Path) -> None:
    made = comparison()
    write_report(made, tmp_path / "report.json")
    read = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert read == json.loads(json.dumps(made.to_dict()))
    assert read["models"][0]["mistakes"][0]["text"] == made.models[0].mistakes[0].text


def test_markdown_has_a_row_for_every_model(tmp_path: Path) -> None:
    made = comparison()
    write_report(made, tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    rows = table_of(text)[2:]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == [m.name for m in made.models]
    assert "88.71" in rows[0]
    assert "the best" in rows[0]
    assert "-0.29, within noise" in rows[1]
    assert "-1.40, worse" in rows[3]
    assert made.sentence in text
    assert "| elmo | there is no model 'elmo': pass a folder or a file |" in text
    assert all(note.replace("_", "\\_") in text for note in made.notes)


def test_numbers_that_json_lacks_are_none(tmp_path: Path) -> None:
    made = comparison()
    odd = replace(
        made.models[0],
        texts_per_second=float("inf"),
        calibration_error=float("nan"),
        accuracy=Score(value=None, answered=0, total=0),
        curve=(),
    )
    for name in ("report.html", "report.md", "report.json"):
        write_report(replace(made, models=(odd, *made.models[1:])), tmp_path / name)
    text = (tmp_path / "report.json").read_text(encoding="utf-8")
    read = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert read["models"][0]["texts_per_second"] is None


def test_half_a_character_is_written(tmp_path: Path) -> None:
    for name in ("report.html", "report.md", "report.json"):
        write_report(replace(comparison(), notes=("a\udc80b",), data="\udc80"), tmp_path / name)
    read = json.loads((tmp_path / "report.json").read_bytes())
    assert read["notes"] == ["a\udc80b"]


def test_many_labels_are_shown_as_the_most_confused_pairs(tmp_path: Path) -> None:
    made, count = comparison(), MATRIX_LABELS + 1
    labels = tuple(f"label {i}" for i in range(count))
    rows = [[0] * count for _ in labels]
    rows[3][5], rows[2][2], rows[7][1] = 4, 90, 9
    own = replace(made.models[0], confusion=tuple(map(tuple, rows)))
    write_report(replace(made, labels=labels, models=(own,)), tmp_path / "report.html")
    shown = embedded((tmp_path / "report.html").read_text(encoding="utf-8"))
    models = shown["models"]
    assert isinstance(models, list)
    assert models[0]["confusion"] == []
    assert models[0]["pairs"] == [
        {"label": 7, "predicted": 1, "count": 9},
        {"label": 3, "predicted": 5, "count": 4},
    ]


def test_another_suffix_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match=r"report\.pdf is not a report: name it \.html"):
        write_report(comparison(), tmp_path / "report.pdf")
    with pytest.raises(InvalidFileError, match="there is no folder"):
        write_report(comparison(), tmp_path / "missing" / "report.html")
    with pytest.raises(InvalidArgumentError, match="comparison must be the result of compare"):
        write_report("reviews", tmp_path / "report.html")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
