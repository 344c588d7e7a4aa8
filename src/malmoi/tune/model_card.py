"""The model card of a tuned encoder: data, settings, scores and the command, as Markdown."""

import shlex
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from malmoi.evaluate.scores import Score
from malmoi.tune.loop_settings import LoopSettings
from malmoi.tune.result import TuneResult

CARD = """\
---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
tags: [sentence-transformers, sentence-similarity, malmoi]
---

# {name}

A sentence encoder: {model}, {how} with malmoi.

```python
import malmoi as mm

encoder = mm.load_encoder("{name}")
vectors = encoder.encode(["A text.", "Another text."])
```

sentence-transformers loads the same folder: `SentenceTransformer("{name}")`.

## Scores

{scores}

## Training data

{data}

## Training

{steps:,} steps, {examples:,} examples in {minutes:.1f} minutes{stopped}; the weights are those of
step {best_step:,}. Settings that are not the defaults: {settings}.

```sh
{command}
```
"""


def model_card(result: TuneResult, settings: LoopSettings) -> str:
    """The README.md of a tuned encoder."""
    return CARD.format(
        name=result.folder.name,
        model=result.model,
        how=result.how,
        scores=_scores(result),
        data="\n".join(f"- {line}" for line in result.data),
        steps=result.steps,
        examples=result.examples,
        minutes=result.seconds / 60,
        stopped=f" (stopped: {result.stopped})" if result.stopped else "",
        best_step=result.best_step,
        settings=", ".join(f"{k}={v}" for k, v in _changed(settings).items()) or "none",
        command=result.command,
    )


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
    for name, value in _changed(settings).items():
        option = f"--{name.replace('_', '-')}"
        values = value if isinstance(value, tuple) else (value,)
        words += [option] if value is True else [w for one in values for w in (option, str(one))]
    return shlex.join(words)


def _changed(settings: LoopSettings) -> dict[str, object]:
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
    lines += [f"| {name} | {score.total:,} | {_percent(score)} |" for name, score in rows]
    verdict = f"Verdict by a paired bootstrap: {result.sentence}."
    return "\n\n".join(["\n".join(lines), verdict, *notes])


def _percent(score: Score) -> str:
    value, low, high = (100 * (number or 0.0) for number in (score.value, score.low, score.high))
    return f"{value:.2f} | {low:.2f} – {high:.2f}"
