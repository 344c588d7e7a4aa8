"""`malmoi train ngram CORPUS --out PATH`: an n-gram language model."""

from typing import Annotated

from malmoi.cli.shared.output import AsJson
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_options import (
    CorpusArgument,
    On,
    Out,
    Settings,
    TextOptions,
    check_target,
    print_written,
)
from malmoi.models.ngram_files import save_ngram
from malmoi.scale.counting import train_ngram
from malmoi.train.language.ngram import NGram

TEXT, DEFAULT = TextOptions(), NGram()


def train_ngram_command(
    corpus: CorpusArgument,
    /,
    *,
    out: Out,
    settings: Annotated[NGram, Settings] = DEFAULT,
    options: TextOptions = TEXT,
    on: On = "local",
    json: AsJson = False,
) -> None:
    """An n-gram language model, as ARPA (.arpa, .arpa.gz) or our own file."""
    check_target(corpus, out)
    text, tokenizer = options.corpus(corpus), options.make_tokenizer()
    with TerminalReporter() as reporter:
        model = train_ngram(text, settings, tokenizer=tokenizer, on=on, reporter=reporter)
    save_ngram(model, out)
    print_written(out, {"order": model.order, "n-grams": sum(model.trie.sizes)}, json)
