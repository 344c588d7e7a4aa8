"""`malmoi train elmo CORPUS --out FOLDER`: a contextual encoder, pretrained on your own text."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.resume import Resume, let_threads_sleep, resumable
from malmoi.cli.shared.target import is_finished
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_options import CorpusArgument, Settings, TextOptions
from malmoi.cli.shared.text_width import wrapped
from malmoi.train.common.options import TrainOptions
from malmoi.tune.elmo.folder import OPTIONS, save_elmo
from malmoi.tune.elmo.pretraining import train_elmo
from malmoi.tune.elmo.result import PretrainedElmo
from malmoi.tune.elmo.settings import Elmo

TEXT, DEFAULT = TextOptions(), Elmo()


def train_elmo_command(
    corpus: CorpusArgument,
    /,
    *,
    out: Annotated[Path, Parameter(help="The folder to write.")],
    resume: Resume = False,
    settings: Annotated[Elmo, Settings] = DEFAULT,
    options: TextOptions = TEXT,
    json: AsJson = False,
) -> None:
    """Pretrain an ELMo model; AllenNLP reads its folder, too.

    Prints the perplexity of held-out text in both directions, beside those of n-gram models. The
    folder names the tokenizer; for English, `--tokenizer english --cased --marks` suits best.
    """
    let_threads_sleep()
    if is_finished(out, resume=resume, json=json, holds=OPTIONS):
        return
    text, tokenizer = options.corpus(corpus), options.make_tokenizer()
    with resumable(out) as checkpoint:
        with TerminalReporter() as reporter:
            model = train_elmo(
                text,
                settings,
                tokenizer=tokenizer,
                options=TrainOptions(checkpoint=checkpoint, resume=resume),
                reporter=reporter,
            )
        save_elmo(model, out)
    print_result(model, out, json)


def print_result(model: PretrainedElmo, out: Path, json: bool) -> None:
    """Print what was written, and how well it predicts words."""
    if json:
        print_json({"written": str(out), **model.facts})
        return
    stopped = f", stopped by {model.stopped}" if model.stopped else ""
    speed = f"{model.words_per_second:,.0f} words/s"
    minutes = model.seconds / 60
    print(
        wrapped(
            f"{out}: {model.steps:,} steps, {model.trained:,} words in {minutes:.1f} minutes"
            f" ({speed}){stopped}"
        )
    )
    print(wrapped(model.sentence))
