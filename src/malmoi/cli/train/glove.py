"""`malmoi train glove CORPUS --out PATH`: vectors by GloVe."""

from dataclasses import fields
from json import loads
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson
from malmoi.cli.shared.progress import progress_bar
from malmoi.cli.shared.resume import Resume, print_memory, resumable
from malmoi.cli.shared.text_options import Out, Settings, TextOptions, check_target, print_written
from malmoi.cli.train.word_vectors import InitOptions
from malmoi.errors import warn
from malmoi.formats import check_save_path, save
from malmoi.models.cooccurrences import Cooccurrences, is_cooccurrences, load_cooccurrences
from malmoi.train.counts.cooccurrence import count_cooccurrences
from malmoi.train.glove.glove import GloVe, train_glove

TEXT, BEGIN, DEFAULT = TextOptions(), InitOptions(), GloVe()
COUNTING = ("window", "min_count", "size", "memory_mb")  # settings that training does without
Source = Annotated[
    str,
    Parameter(
        help="A file of text, a folder, - for standard input; or saved co-occurrences.",
        allow_leading_hyphen=True,
    ),
]


def train_glove_command(
    corpus: Source,
    /,
    *,
    out: Out,
    resume: Resume = False,
    begin: InitOptions = BEGIN,
    settings: Annotated[GloVe, Settings] = DEFAULT,
    options: TextOptions = TEXT,
    json: AsJson = False,
) -> None:
    """Vectors whose products are near the logarithms of how often words meet (GloVe)."""
    check_save_path(out)
    check_target(corpus, out)
    given = begin.given()
    counts, cut = _counted(corpus, settings, options)
    with resumable(out) as checkpoint:
        with progress_bar("training", "records") as progress:
            vectors = train_glove(
                counts,
                settings,
                **given,
                checkpoint=checkpoint,
                resume=resume,
                progress=progress,
                on_loss=progress.note_loss,
                tell_memory=print_memory,
            )
        save(vectors.with_meta(**cut), out)
    losses = loads(vectors.meta["losses"])
    facts = {"rows": len(vectors), "dim": vectors.dim}
    print_written(out, facts, json, losses, each="iteration")


def _counted(
    corpus: str, settings: GloVe, options: TextOptions
) -> tuple[Cooccurrences, dict[str, str]]:
    """What stands beside what, and what is known of how the text was cut."""
    if is_cooccurrences(corpus):
        note_unused(corpus, settings, options)
        return load_cooccurrences(corpus), {}
    text = options.encoded(corpus, settings.min_count, settings.size)
    with progress_bar(f"counting {corpus}") as progress:
        counts = count_cooccurrences(
            text.ids, text.vocabulary, settings.counting, progress=progress
        )
    return counts, {"tokenizer": text.tokenizer}


def note_unused(corpus: str, settings: GloVe, options: TextOptions) -> None:
    """What is counted already is neither cut nor counted another way: who asks for it is told."""
    asked = [name for name in COUNTING if getattr(settings, name) != getattr(DEFAULT, name)]
    names = [field.name for field in fields(TextOptions)]
    asked += [name for name in names if getattr(options, name) != getattr(TEXT, name)]
    if asked:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in asked)
        warn(f"{corpus} is counted already: {named} has no effect")
