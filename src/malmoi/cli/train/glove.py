"""`malmoi train glove CORPUS --out PATH`: vectors by GloVe."""

from dataclasses import fields
from json import loads
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson
from malmoi.cli.shared.resume import Resume, resumable
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_options import Out, Settings, TextOptions, check_target, print_written
from malmoi.cli.train.word_vectors import InitOptions
from malmoi.errors import warn
from malmoi.formats import check_save_path, save
from malmoi.models.cooccurrences import is_cooccurrences
from malmoi.train.glove.glove import train_glove
from malmoi.train.glove.settings import GloVe

TEXT, INIT, DEFAULT = TextOptions(), InitOptions(), GloVe()
COUNTING = ("window", "min_count", "max_vocab_size", "memory_mb")  # unused for saved counts
CountsSource = Annotated[
    str,
    Parameter(
        help="A file of text, a folder, - for standard input; or saved co-occurrences.",
        allow_leading_hyphen=True,
    ),
]


def train_glove_command(
    corpus: CountsSource,
    /,
    *,
    out: Out,
    resume: Resume = False,
    init: InitOptions = INIT,
    settings: Annotated[GloVe, Settings] = DEFAULT,
    options: TextOptions = TEXT,
    json: AsJson = False,
) -> None:
    """Word vectors whose dot products approximate log co-occurrences (GloVe)."""
    check_save_path(out)
    check_target(corpus, out)
    counted = is_cooccurrences(corpus)
    if counted:
        warn_unused(corpus, settings, options)
    with resumable(out) as checkpoint:
        train_options = init.train_options(checkpoint, resume)
        with TerminalReporter() as reporter:
            vectors = train_glove(
                corpus if counted else options.corpus(corpus),
                settings,
                tokenizer=options.make_tokenizer(),
                options=train_options,
                reporter=reporter,
            )
        save(vectors, out)
    losses = loads(vectors.meta["losses"])
    facts = {"rows": len(vectors), "dim": vectors.dim}
    print_written(out, facts, json, losses, each="iteration")


def warn_unused(corpus: str, settings: GloVe, options: TextOptions) -> None:
    """Warn about options for reading and counting text, if the counts were saved before."""
    names = [name for name in COUNTING if getattr(settings, name) != getattr(DEFAULT, name)]
    text_names = [field.name for field in fields(TextOptions)]
    names += [name for name in text_names if getattr(options, name) != getattr(TEXT, name)]
    if names:
        listed = ", ".join(f"--{name.replace('_', '-')}" for name in names)
        warn(f"{corpus} is counted already: {listed} has no effect")
