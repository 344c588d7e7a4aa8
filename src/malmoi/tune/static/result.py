"""What a distillation into a static student achieved, and its model card."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from malmoi.evaluate.scores import Score
from malmoi.tune.model_card import changed_settings, option_words
from malmoi.tune.static.settings import StaticSettings
from malmoi.tune.static.trainer import HeldOutFit

CARD = """\
---
library_name: model2vec
pipeline_tag: sentence-similarity
tags: [sentence-transformers, model2vec, static-embeddings, malmoi]
---

# {name}

A static sentence encoder, distilled from {teacher} with malmoi: {tokens:,} tokens with vectors of
{dim} dimensions, whose mean is the vector of a text.

```python
import malmoi as mm

encoder = mm.load_encoder("{name}")
vectors = encoder.encode(["A text.", "Another text."])
```

model2vec and sentence-transformers load the same folder: `StaticModel.from_pretrained("{name}")`,
`SentenceTransformer("{name}")`.

## Fit

{fit}

## Training

{texts:,} texts, {epochs} epochs, {minutes:.1f} minutes in all. Settings that are not the defaults:
{settings}.

```sh
{command}
```
"""


@dataclass(frozen=True, kw_only=True)
class StaticResult:
    """A static student in a folder; `fits` are on held-out texts, the untrained table first.

    `texts` is how many the teacher has read, and `tokens` the rows of the table; `dev` is None
    without a dev set, else the student's and the teacher's Spearman correlation on it.
    """

    folder: Path
    teacher: str
    texts: int
    tokens: int
    dim: int
    seconds: float
    stopped: str
    fits: tuple[HeldOutFit, ...]
    dev: tuple[Score, Score] | None = None

    @property
    def best(self) -> HeldOutFit:
        """The fit of the table in the folder."""
        return max(self.fits, key=lambda fit: fit.cosine)

    @property
    def sentence(self) -> str:
        """The fit in one line."""
        each = self.best
        line = f"held-out texts: cosine to the teacher {each.cosine:.3f}, R² {each.r2:.3f}"
        if self.dev is None:
            return line
        student, teacher = (100 * (score.value or 0.0) for score in self.dev)
        return f"{line}; dev set: Spearman {student:.2f}, teacher {teacher:.2f}"


def static_card(result: StaticResult, settings: StaticSettings, sources: list[str]) -> str:
    """The README.md of a static student."""
    changed = changed_settings(settings)
    return CARD.format(
        name=result.folder.name,
        teacher=result.teacher,
        tokens=result.tokens,
        dim=result.dim,
        fit=f"{result.sentence[0].upper()}{result.sentence[1:]}.",
        texts=result.texts,
        epochs=settings.epochs,
        minutes=result.seconds / 60,
        settings=", ".join(f"{name}={value}" for name, value in changed.items()) or "none",
        command=_command(result, changed, sources),
    )


def _command(result: StaticResult, changed: dict[str, object], sources: list[str]) -> str:
    """The command that does the same; texts that are not in a file are TEXTS there."""
    words = ["malmoi", "tune", "distill", *(sources or ["TEXTS"]), "--static"]
    words += ["--teacher", result.teacher, "--out", str(result.folder)]
    return shlex.join([*words, *option_words(changed)])
