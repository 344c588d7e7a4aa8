"""`malmoi generate MODEL`: text from a language model."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, print_json
from malmoi.models.language_files import load_language_model


def generate_command(
    model: Annotated[
        Path, Parameter(help="A language model: n-grams, .arpa or ours, or a neural one.")
    ],
    /,
    *,
    start: Annotated[str, Parameter(help="Words to begin with.")] = "",
    lines: Annotated[int, Parameter(name=["-n", "--lines"], help="How many sentences.")] = 5,
    words: Annotated[int, Parameter(help="At most so many words each.")] = 30,
    seed: Annotated[int, Parameter(help="The same seed gives the same text.")] = 1,
    json: AsJson = False,
) -> None:
    """Sentences drawn word by word, each as probable as the model says."""
    language = load_language_model(model)
    begin = start.split()
    drawn = [language.sample(seed + i, start=begin, max_words=words) for i in range(lines)]
    if json:
        print_json(drawn)
        return
    for sentence in drawn:
        print(" ".join(sentence))
