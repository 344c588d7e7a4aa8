"""`malmoi vocab CORPUS`: the words of a corpus and how often each occurs."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.progress import progress_bar
from malmoi.cli.shared.text_options import MinCount, Text, TextOptions, check_target
from malmoi.text.encoded import VocabularySettings, count_corpus
from malmoi.text.word_list import save_words

DEFAULT = TextOptions()


def vocab_command(
    corpus: Text,
    /,
    *,
    min_count: MinCount = 1,
    size: Annotated[int | None, Parameter(help="At most so many words.")] = None,
    show: Annotated[int, Parameter(name=["-k"], help="How many to show.")] = 20,
    out: Annotated[Path | None, Parameter(help="Write words and counts to this file.")] = None,
    options: TextOptions = DEFAULT,
    json: AsJson = False,
) -> None:
    """Count the words; show the most frequent, write all."""
    if out is not None:
        check_target(corpus, out)
    choice = VocabularySettings(min_count=min_count, max_vocab_size=size)
    with progress_bar(f"counting {corpus}") as progress:
        words = count_corpus(options.corpus(corpus), options.cut(), choice, progress=progress)
    if out is not None:
        save_words(words, out)
    top = list(zip(words.words[:show], words.counts[:show].tolist(), strict=True))
    if json:
        counted = {"words": len(words), "seen": int(words.counts.sum())}
        print_json({**counted, "most_frequent": dict(top)})
        return
    print(f"{len(words):,} words, seen {int(words.counts.sum()):,} times")
    for word, count in top:
        print(f"  {count:>10,}  {word}")
