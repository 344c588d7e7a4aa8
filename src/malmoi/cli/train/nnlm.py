"""`malmoi train nnlm CORPUS --out PATH`: a feed-forward neural language model."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson
from malmoi.cli.shared.resume import Resume, resumable
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_options import (
    CorpusArgument,
    Out,
    Settings,
    TextOptions,
    check_target,
    print_written,
)
from malmoi.formats import check_save_path, save
from malmoi.models.nnlm_model import save_nnlm
from malmoi.text.tokenizers import describe
from malmoi.train.common.options import TrainOptions
from malmoi.train.language.nnlm import NNLM, train_nnlm

TEXT, DEFAULT = TextOptions(), NNLM()


def train_nnlm_command(
    corpus: CorpusArgument,
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
    text, tokenizer = options.corpus(corpus), options.make_tokenizer()
    with resumable(out) as checkpoint:
        with TerminalReporter() as reporter:
            model = train_nnlm(
                text,
                settings,
                tokenizer=tokenizer,
                options=TrainOptions(checkpoint=checkpoint, resume=resume),
                reporter=reporter,
            )
        save_nnlm(model, out)
        table = model.vectors()
        if vectors is not None:
            save(table.with_meta(tokenizer=describe(tokenizer)), vectors)
    print_written(out, {"words": len(table), "dim": table.dim}, json)
