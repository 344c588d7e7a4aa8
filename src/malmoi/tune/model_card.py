"""The model card of a tuned encoder: data, settings, scores and the command, as Markdown."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from malmoi.evaluate.scores import Score
from malmoi.tune.result import TuneResult
from malmoi.tune.sentence.settings import TuneSettings

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

HEAD = """\
---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
tags: [sentence-transformers, sentence-similarity, malmoi]
---

# {name}

{summary}

```python
import malmoi as mm

encoder = mm.load_encoder("{name}")
vectors = encoder.encode(["A text.", "Another text."])
```

sentence-transformers loads the same folder: `SentenceTransformer("{name}")`.
"""
TRAINING = """\
{steps:,} steps, {examples:,} examples in {minutes:.1f} minutes{stopped}; the weights are those of
step {best_step:,}. Settings that are not the defaults: {settings}.

```sh
{command}
```"""


def model_card(result: TuneResult, settings: TuneSettings) -> str:
    """The README.md of a tuned encoder."""
    changed = changed_settings(settings, TuneSettings())
    training = TRAINING.format(
        steps=result.steps,
        examples=result.examples,
        minutes=result.seconds / 60,
        stopped=f" (stopped: {result.stopped})" if result.stopped else "",
        best_step=result.best_step,
        settings=", ".join(f"{k}={v}" for k, v in changed.items()) or "none",
        command=result.command,
    )
    return card_page(
        result.folder.name,
        f"A sentence encoder: {result.model}, tuned with malmoi.",
        {
            "Scores": _scores(result),
            "Training data": "\n".join(f"- {line}" for line in result.data),
            "Training": training,
        },
    )


def card_page(name: str, summary: str, sections: Mapping[str, str]) -> str:
    """A README.md that says what an encoder is and how to load it, then the sections."""
    parts = [f"## {title}\n\n{text}\n" for title, text in sections.items()]
    return "\n".join([HEAD.format(name=name, summary=summary), *parts])


def command_line(
    model: str, sources: Sequence[str], out: Path, settings: TuneSettings, dev: str | None = None
) -> str:
    """The command that tunes the same way; data that are not in a file are DATA there."""
    words = ["malmoi", "tune", "sentence"]
    words += ["DATA" if source.startswith("the ") else source for source in sources]
    words += ["--model", model, "--out", str(out)]
    if dev is not None:
        words += ["--dev", dev]
    return shlex.join([*words, *option_words(changed_settings(settings, TuneSettings()))])


def option_words(settings: Mapping[str, object]) -> list[str]:
    """Settings as options of a command."""
    words: list[str] = []
    for name, value in settings.items():
        option = f"--{name.replace('_', '-')}"
        values = value if isinstance(value, tuple) else (value,)
        words += [option] if value is True else [w for one in values for w in (option, str(one))]
    return words


def changed_settings(settings: "DataclassInstance", defaults: object) -> dict[str, object]:
    """The settings that are not the defaults, by name."""
    names = [field.name for field in fields(settings)]
    values = {name: getattr(settings, name) for name in names}
    return {name: v for name, v in values.items() if v != getattr(defaults, name)}


def _scores(result: TuneResult) -> str:
    if result.before is None or result.after is None:
        return "No dev set was given."
    rows = [("untuned", result.before), ("tuned", result.after)]
    lines = ["| dev set | pairs | Spearman | 95 % interval |", "|---|--:|--:|---|"]
    lines += [f"| {name} | {score.total:,} | {score_cells(score)} |" for name, score in rows]
    return "\n".join([*lines, "", f"Verdict by a paired bootstrap: {result.sentence}."])


def score_cells(score: Score) -> str:
    """A score and its interval in percent, as two cells of a table."""
    value, low, high = (100 * (number or 0.0) for number in (score.value, score.low, score.high))
    return f"{value:.2f} | {low:.2f} – {high:.2f}"
