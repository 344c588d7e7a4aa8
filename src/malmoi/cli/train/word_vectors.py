"""What the commands that train word vectors share: where they begin, and the training itself."""

from collections.abc import Callable
from dataclasses import dataclass
from json import loads
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.cli.shared.progress import progress_bar
from malmoi.cli.shared.resume import print_memory, resumable
from malmoi.cli.shared.text_options import Flag, TextOptions, check_target, print_written
from malmoi.errors import InvalidArgumentError
from malmoi.formats import check_save_path, load, save
from malmoi.train.word2vec.settings import WordSettings
from malmoi.vectors import Vectors


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class InitOptions:
    """Where a training begins."""

    start: Annotated[Path | None, Parameter(help="Vectors that its words begin with.")] = None
    frozen: Annotated[bool, Flag, Parameter(help="Those vectors do not move.")] = False
    update: Annotated[
        Path | None, Parameter(help="Vectors to go on with; all its words are kept.")
    ] = None

    def given(self) -> dict[str, Any]:
        """What the training takes."""
        if self.start is not None and self.update is not None:
            raise InvalidArgumentError(
                f"--start {self.start} and --update {self.update} both say where to begin: give one"
            )
        path = self.start or self.update
        return {
            "start": None if path is None else load(path),
            "frozen": self.frozen,
            "update": self.update is not None,
        }


def train_and_save(
    train: Callable[..., Vectors],
    corpus: str,
    settings: WordSettings,
    begin: InitOptions,
    options: TextOptions,
    out: Path,
    resume: bool,
    json: bool,
) -> None:
    """Train on a corpus, and write the vectors."""
    check_save_path(out, getattr(settings, "subwords", None))
    check_target(corpus, out)
    given = begin.given()
    text = options.encoded(corpus, settings.min_count, settings.size)
    with resumable(out) as checkpoint:
        with progress_bar("training", "words") as progress:
            vectors = train(
                text,
                settings,
                **given,
                checkpoint=checkpoint,
                resume=resume,
                progress=progress,
                on_loss=progress.note_loss,
                tell_memory=print_memory,
            )
        save(vectors, out)
    losses = loads(vectors.meta["losses"])
    print_written(out, {"rows": len(vectors), "dim": vectors.dim}, json, losses)
