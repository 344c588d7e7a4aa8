"""The model card of a tuned encoder: data, settings, scores and the command, as Markdown."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from malmoi.evaluate.scores import Score
from malmoi.train.common.loop_settings import LoopSettings
from malmoi.tune.result import TuneResult

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


class TrainedRun(Protocol):
    """What the section on training says of a run."""

    @property
    def steps(self) -> int:
        """The number of steps."""

    @property
    def best_step(self) -> int:
        """The step whose weights were saved."""

    @property
    def seconds(self) -> float:
        """How long it took."""

    @property
    def stopped(self) -> str:
        """Why it ended early, or nothing."""

    @property
    def command(self) -> str:
        """The command that does the same."""


def training_section(run: TrainedRun, examples: int, settings: LoopSettings) -> str:
    """Steps, examples, time, settings and the command of a run."""
    changed = changed_settings(settings)
    return TRAINING.format(
        steps=run.steps,
        examples=examples,
        minutes=run.seconds / 60,
        stopped=f" (stopped: {run.stopped})" if run.stopped else "",
        best_step=run.best_step,
        settings=", ".join(f"{name}={value}" for name, value in changed.items()) or "none",
        command=run.command,
    )


def model_card(result: TuneResult, settings: LoopSettings) -> str:
    """The README.md of a tuned encoder."""
    return card_page(
        result.folder.name,
        f"A sentence encoder: {result.model}, {result.how} with malmoi.",
        {
            "Scores": _scores(result),
            "Training data": "\n".join(f"- {line}" for line in result.data),
            "Training": training_section(result, result.examples, settings),
        },
    )


def card_page(name: str, summary: str, sections: Mapping[str, str]) -> str:
    """A README.md that says what an encoder is and how to load it, then the sections."""
    parts = [f"## {title}\n\n{text}\n" for title, text in sections.items()]
    return "\n".join([HEAD.format(name=name, summary=summary), *parts])


def command_line(
    kind: str,
    model: str,
    sources: Sequence[str],
    out: Path,
    settings: LoopSettings,
    dev: str | None = None,
) -> str:
    """The command that tunes the same way; data that are not in a file are DATA there."""
    words = ["malmoi", "tune", kind]
    words += ["DATA" if source.startswith("the ") else source for source in sources]
    words += ["--model", model, "--out", str(out)]
    if dev is not None:
        words += ["--dev", dev]
    return shlex.join([*words, *option_words(changed_settings(settings))])


def option_words(settings: Mapping[str, object]) -> list[str]:
    """Settings as options of a command."""
    words: list[str] = []
    for name, value in settings.items():
        option = f"--{name.replace('_', '-')}"
        values = value if isinstance(value, tuple) else (value,)
        words += [option] if value is True else [w for one in values for w in (option, str(one))]
    return words


def changed_settings(settings: "DataclassInstance") -> dict[str, object]:
    """The settings that are not the defaults, by name."""
    defaults = type(settings)()
    names = [field.name for field in fields(settings)]
    values = {name: getattr(settings, name) for name in names}
    return {name: v for name, v in values.items() if v != getattr(defaults, name)}


def _scores(result: TuneResult) -> str:
    notes = [f"{note[0].upper()}{note[1:]}." for note in result.notes]
    if result.before is None or result.after is None:
        return "\n\n".join(["No dev set was given.", *notes])
    rows = [("before", result.before), ("after", result.after)]
    lines = [f"| dev set | n | {result.metric} | 95 % interval |", "|---|--:|--:|---|"]
    lines += [f"| {name} | {score.total:,} | {score_cells(score)} |" for name, score in rows]
    steps = ", ".join(f"{100 * score:.2f} (step {step:,})" for step, score in result.history)
    verdict = f"Verdict by a paired bootstrap: {result.sentence}. All dev scores: {steps}."
    return "\n\n".join(["\n".join(lines), verdict, *notes])


def score_cells(score: Score) -> str:
    """A score and its interval in percent, as two cells of a table."""
    value, low, high = (100 * (number or 0.0) for number in (score.value, score.low, score.high))
    return f"{value:.2f} | {low:.2f} – {high:.2f}"
