"""Reports of a comparison: a page, Markdown or JSON (placeholder until the page is merged)."""

import json
from pathlib import Path

from malmoi.classify.compare.result import Comparison


def check_report(path: Path) -> None:
    """Raise if the report cannot be written."""


def write_report(comparison: Comparison, path: Path) -> None:
    """Write the report."""
    path.write_text(json.dumps(comparison.to_dict()), encoding="utf-8")
