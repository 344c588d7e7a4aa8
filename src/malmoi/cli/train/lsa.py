"""`malmoi train lsa CORPUS --out PATH`: vectors from counts."""

from typing import Annotated

from malmoi.cli.shared.output import AsJson
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
from malmoi.train.counts.lsa import LSA, train_lsa

TEXT, DEFAULT = TextOptions(), LSA()


def train_lsa_command(
    corpus: CorpusArgument,
    /,
    *,
    out: Out,
    settings: Annotated[LSA, Settings] = DEFAULT,
    options: TextOptions = TEXT,
    json: AsJson = False,
) -> None:
    """Vectors by the singular values of counts: TF-IDF of documents, or PPMI of windows."""
    check_save_path(out)
    check_target(corpus, out)
    text, tokenizer = options.corpus(corpus), options.make_tokenizer()
    with TerminalReporter() as reporter:
        vectors = train_lsa(text, settings, tokenizer=tokenizer, reporter=reporter)
    save(vectors, out)
    print_written(out, {"rows": len(vectors), "dim": vectors.dim}, json)
