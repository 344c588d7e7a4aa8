"""`malmoi train glove CORPUS --out PATH`: vectors by GloVe."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.answer import AsJson
from malmoi.cli.corpus import Flag, Out, Settings, TextOptions, say_written
from malmoi.cli.progress import bar
from malmoi.cli.resume import Resume, resumable, say_memory
from malmoi.errors import BadSetting
from malmoi.formats import load, save
from malmoi.formats.places import check_place
from malmoi.models.cooccurrences import Cooccurrences, is_cooccurrences, load_cooccurrences
from malmoi.train.cooccurrence import count_cooccurrences
from malmoi.train.glove import GloVe, train_glove

TEXT, DEFAULT = TextOptions(), GloVe()
Source = Annotated[
    str, Parameter(help="A file of text, a folder, - for standard input; or saved co-occurrences.")
]


def train_glove_command(
    corpus: Source,
    /,
    *,
    out: Out,
    start: Annotated[Path | None, Parameter(help="Vectors that its words begin with.")] = None,
    frozen: Annotated[bool, Flag, Parameter(help="Those vectors do not move.")] = False,
    update: Annotated[
        Path | None, Parameter(help="Vectors to go on with; its other words stay as they are.")
    ] = None,
    resume: Resume = False,
    settings: Annotated[GloVe, Settings] = DEFAULT,
    options: TextOptions = TEXT,
    json: AsJson = False,
) -> None:
    """Vectors whose products are near the logarithms of how often words meet (GloVe)."""
    check_place(out)
    if start is not None and update is not None:
        raise BadSetting(f"--start {start} and --update {update} both say where to begin: give one")
    given = start or update
    before = None if given is None else load(given)
    counts, cut = _counted(corpus, settings, options)
    with resumable(out) as checkpoint:
        with bar("training", "records") as progress:
            vectors = train_glove(
                counts,
                settings,
                start=before,
                frozen=frozen,
                update=update is not None,
                checkpoint=checkpoint,
                resume=resume,
                progress=progress,
                on_loss=progress.note_loss,
                tell_memory=say_memory,
            )
        save(vectors.with_meta(**cut), out)
    say_written(out, {"rows": len(vectors), "dim": vectors.dim}, json)


def _counted(
    corpus: str, settings: GloVe, options: TextOptions
) -> tuple[Cooccurrences, dict[str, str]]:
    """What stands beside what, and what is known of how the text was cut."""
    if is_cooccurrences(corpus):
        return load_cooccurrences(corpus), {}
    text = options.encoded(corpus, settings.min_count, settings.size)
    with bar(f"counting {corpus}") as progress:
        counts = count_cooccurrences(
            text.ids, text.vocabulary, settings.counting, progress=progress
        )
    return counts, {"tokenizer": text.tokenizer}
