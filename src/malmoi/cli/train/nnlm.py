"""`malmoi train nnlm CORPUS --out PATH`: a feed-forward neural language model."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson
from malmoi.cli.shared.progress import progress_bar
from malmoi.cli.shared.resume import Resume, resumable
from malmoi.cli.shared.text_options import (
    Out,
    Settings,
    Text,
    TextOptions,
    check_target,
    print_written,
)
from malmoi.formats import check_save_path, save
from malmoi.models.nnlm_model import save_nnlm
from malmoi.train.language.nnlm import NNLM, train_nnlm_ids

TEXT, DEFAULT = TextOptions(), NNLM()


def train_nnlm_command(
    corpus: Text,
    /,
    *,
    out: Out,
    vectors: Annotated[
        Path | None, Parameter(help="Write the words' vectors to this file too.")
    ] = None,
    resume: Resume = False,
    settings: Annotated[NNLM, Settings] = DEFAULT,
    options: TextOptions = TEXT,
    json: AsJson = False,
) -> None:
    """A neural language model, and its lookup table as vectors like any other model's."""
    check_target(corpus, out)
    if vectors is not None:
        check_save_path(vectors)
        check_target(corpus, vectors)
    text = options.encoded(corpus)
    with resumable(out) as checkpoint:
        with progress_bar("training") as progress:
            model = train_nnlm_ids(
                text.ids,
                text.vocabulary,
                settings,
                checkpoint=checkpoint,
                resume=resume,
                progress=progress,
            )
        save_nnlm(model, out)
        table = model.vectors()
        if vectors is not None:
            save(table.with_meta(tokenizer=text.tokenizer), vectors)
    print_written(out, {"words": len(table), "dim": table.dim}, json)
