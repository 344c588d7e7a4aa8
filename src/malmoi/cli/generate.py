"""`malmoi generate MODEL`: sample text from a language model."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, print_json
from malmoi.models.language_files import load_language_model


def generate_command(
    model: Annotated[Path, Parameter(help="A language model: ARPA, n-gram or neural.")],
    /,
    *,
    start: Annotated[str, Parameter(help="First words of each sentence.")] = "",
    lines: Annotated[int, Parameter(name=["-n", "--lines"], help="Number of sentences.")] = 5,
    words: Annotated[int, Parameter(help="Maximum number of words per sentence.")] = 30,
    seed: Annotated[int, Parameter(help="The same seed gives the same text.")] = 1,
    json: AsJson = False,
) -> None:
    """Sample sentences word by word from a language model."""
    language = load_language_model(model)
    begin = start.split()
    sentences = [language.sample(seed + i, start=begin, max_words=words) for i in range(lines)]
    if json:
        print_json(sentences)
        return
    for sentence in sentences:
        print(" ".join(sentence))
