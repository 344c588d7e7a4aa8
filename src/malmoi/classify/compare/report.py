"""Writes the report of a comparison: a page that opens from disk, Markdown or JSON.

Also writes the texts that a classifier gets wrong, which the projector shows as a map.
"""

import json
from collections.abc import Mapping
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.arguments import expect, expect_path
from malmoi.classify.compare.markdown_report import markdown_report
from malmoi.classify.compare.result import Comparison, ModelScores
from malmoi.classify.compare.run import Run
from malmoi.errors import InvalidArgumentError
from malmoi.files.output import open_output
from malmoi.files.targets import check_writable
from malmoi.tune.data.labelled_set import LabelledSet
from malmoi.web.self_contained import json_element, page_around_data

SUFFIXES = (".html", ".md", ".json")
MATRIX_LABELS = 12  # above, the page shows the most confused pairs instead of a matrix
MAX_PAIRS = 30
TEXT_CHARACTERS = 2000  # of a mistake on the page


def write_report(comparison: Comparison, path: str | PathLike[str]) -> None:
    """Write a comparison as a page (.html), as Markdown (.md) or as JSON (.json), atomically.

    Args:
        comparison: As `compare` returns it.
        path: The file to write; its suffix selects the format.

    Raises:
        InvalidArgumentError: The suffix is none of these.
        InvalidFileError: The file cannot be written.
    """
    expect(comparison, Comparison, "comparison", "the result of compare")
    file = expect_path(path)
    check_report(file)
    formats = {".html": _page, ".md": _markdown, ".json": _json}
    data = formats[file.suffix.lower()](comparison)
    with open_output(file) as [stream]:
        stream.write(data)


def check_report(path: Path) -> None:
    """Raise unless the suffix is that of a report and the file can be written."""
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidArgumentError(f"{path} is not a report: name it .html, .md or .json")
    check_writable(path)


def _json(comparison: Comparison) -> bytes:
    text = json.dumps(_finite(comparison.to_dict()), ensure_ascii=False, indent=1)
    return f"{text}\n".encode("utf-8", "backslashreplace")  # of lone surrogates: \udc80 is JSON too


def _markdown(comparison: Comparison) -> bytes:
    return markdown_report(comparison).encode("utf-8", "backslashreplace")


def _page(comparison: Comparison) -> bytes:
    """The page; what it shows is data, never markup."""
    before, after = page_around_data("report", f"{comparison.data}: classifiers compared")
    described = comparison.to_dict()
    for shown, model in zip(described["models"], comparison.models, strict=True):
        if len(comparison.labels) > MATRIX_LABELS:
            shown["confusion"], shown["pairs"] = (), confused_pairs(model)
        for mistake in shown["mistakes"]:
            if len(mistake["text"]) > TEXT_CHARACTERS:
                mistake["text"] = f"{mistake['text'][:TEXT_CHARACTERS]}…"
    data = json_element("comparison", _finite(described))
    return before.encode("utf-8", "replace") + data + after.encode()


def confused_pairs(model: ModelScores) -> list[dict[str, int]]:
    """The label numbers that a model confuses most often, and how often."""
    pairs = [
        {"label": i, "predicted": j, "count": count}
        for i, row in enumerate(model.confusion)
        for j, count in enumerate(row)
        if i != j and count
    ]
    return sorted(pairs, key=lambda one: -one["count"])[:MAX_PAIRS]


def _finite(value: Any) -> Any:
    """The same value with None for numbers that JSON lacks."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def write_errors(data: LabelledSet, runs: Mapping[int, Run], path: Path) -> None:
    """Write each wrong text once, with its label and what it was taken for.

    The field `error` names both, so that the map can be coloured by kinds of errors.
    """
    written: set[int] = set()
    offsets, items = data.labels
    with open_output(path) as (stream,):
        for run in runs.values():
            for i in np.flatnonzero(~run.right):
                row = int(run.rows[i])
                if row in written:
                    continue
                written.add(row)
                label = ", ".join(data.names[k] for k in items[offsets[row] : offsets[row + 1]])
                predicted = data.names[int(run.predicted[i])]
                record = {
                    "text": data.texts[row],
                    "label": label,
                    "predicted": predicted,
                    "error": f"{label} → {predicted}",
                }
                stream.write((json.dumps(record, ensure_ascii=False) + "\n").encode())
