"""`malmoi cooccur CORPUS --words ice,steam --contexts solid,gas`: P(k|i) and their ratios."""

from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.answer import AsJson, print_json
from malmoi.cli.corpus import MinCount, Text, TextOptions
from malmoi.cli.progress import bar
from malmoi.train.cooccurrence import Cooccurrence, count_cooccurrences
from malmoi.train.information import probability_table

DEFAULT, COUNTING = TextOptions(), Cooccurrence()


def cooccur_command(
    corpus: Text,
    /,
    *,
    words: Annotated[str, Parameter(help="Two or more words, such as ice,steam.")],
    contexts: Annotated[str, Parameter(help="Their contexts, such as solid,gas,water.")],
    min_count: MinCount = 1,
    counting: Annotated[Cooccurrence, Parameter(name="*")] = COUNTING,
    options: TextOptions = DEFAULT,
    json: AsJson = False,
) -> None:
    """How probable each context is beside each word, and the ratio of the first two."""
    text = options.encoded(corpus, min_count)
    with bar(f"counting {corpus}") as progress:
        counts = count_cooccurrences(text.ids, text.vocabulary, counting, progress=progress)
    table = probability_table(counts, words.split(","), contexts.split(","))
    if json:
        print_json(
            {name: dict(zip(table.contexts, row, strict=True)) for name, row in table.rows()}
        )
        return
    width = max(len(name) for name, _ in table.rows()) + 2
    print(" " * width + "".join(f"{context:>12}" for context in table.contexts))
    for name, row in table.rows():
        print(f"{name:<{width}}" + "".join(f"{value:>12.3g}" for value in row))
