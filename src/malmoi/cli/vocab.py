"""`malmoi vocab CORPUS`: the words of a corpus and how often each occurs."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_options import CorpusArgument, MinCount, On, TextOptions, check_target
from malmoi.cli.translation.language import translate
from malmoi.scale.counting import count_words
from malmoi.text.encoded import VocabularySettings
from malmoi.text.word_list import save_words

DEFAULT_OPTIONS = TextOptions()


def vocab_command(
    corpus: CorpusArgument,
    /,
    *,
    min_count: MinCount = 1,
    max_vocab_size: Annotated[
        int | None, Parameter(help="Take only the most frequent words, at most so many.")
    ] = None,
    show: Annotated[int, Parameter(name=["-k"], help="How many words to print.")] = 20,
    out: Annotated[Path | None, Parameter(help="Write words and counts to this file.")] = None,
    options: TextOptions = DEFAULT_OPTIONS,
    on: On = "local",
    json: AsJson = False,
) -> None:
    """Count the words of a corpus; print the most frequent, or write all."""
    if out is not None:
        check_target(corpus, out)
    settings = VocabularySettings(min_count=min_count, max_vocab_size=max_vocab_size)
    text, tokenizer = options.corpus(corpus), options.make_tokenizer()
    with TerminalReporter() as reporter:
        vocabulary = count_words(text, settings, tokenizer=tokenizer, on=on, reporter=reporter)
    if out is not None:
        save_words(vocabulary, out)
    counts = vocabulary.counts.tolist()
    top = list(zip(vocabulary.words[:show], counts[:show], strict=True))
    if json:
        totals = {"words": len(vocabulary), "tokens": sum(counts)}
        print_json({**totals, "most_frequent": dict(top)})
        return
    print(translate(f"{len(vocabulary):,} words, {sum(counts):,} tokens"))
    for word, count in top:
        print(f"  {count:>10,}  {word}")
