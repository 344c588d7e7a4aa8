"""What the commands that train word vectors share: initial vectors, training, saving."""

from collections.abc import Callable
from dataclasses import dataclass
from json import loads
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import Flag
from malmoi.cli.shared.resume import resumable
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_options import TextOptions, check_target, print_written
from malmoi.errors import InvalidArgumentError
from malmoi.formats import check_save_path, load, save
from malmoi.train.common.options import TrainOptions
from malmoi.train.word2vec.settings import WordSettings
from malmoi.vectors import Vectors


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class InitOptions:
    """Where a training starts."""

    init_vectors: Annotated[
        Path | None, Parameter(help="Start from these vectors where they have the word.")
    ] = None
    freeze: Annotated[bool, Flag, Parameter(help="Keep these vectors unchanged.")] = False
    update: Annotated[
        Path | None, Parameter(help="Continue training these vectors; keep all their words.")
    ] = None

    def train_options(self, checkpoint: Path, resume: bool) -> TrainOptions:
        """The options of the training, with the vectors loaded."""
        if self.init_vectors is not None and self.update is not None:
            raise InvalidArgumentError(
                f"--init-vectors {self.init_vectors} and --update {self.update} exclude each"
                " other: give one"
            )
        path = self.init_vectors or self.update
        return TrainOptions(
            init_vectors=None if path is None else load(path),
            freeze=self.freeze,
            update=self.update is not None,
            checkpoint=checkpoint,
            resume=resume,
        )


def train_and_save(
    train: Callable[..., Vectors],
    corpus: str,
    settings: WordSettings,
    init: InitOptions,
    text: TextOptions,
    out: Path,
    resume: bool,
    json: bool,
) -> None:
    """Train on a corpus, and write the vectors."""
    check_save_path(out, getattr(settings, "subwords", None))
    check_target(corpus, out)
    with resumable(out) as checkpoint:
        options = init.train_options(checkpoint, resume)
        with TerminalReporter() as reporter:
            vectors = train(
                text.corpus(corpus),
                settings,
                tokenizer=text.make_tokenizer(),
                options=options,
                reporter=reporter,
            )
        save(vectors, out)
    losses = loads(vectors.meta["losses"])
    print_written(out, {"rows": len(vectors), "dim": vectors.dim}, json, losses)
