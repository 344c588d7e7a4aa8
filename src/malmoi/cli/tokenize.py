"""`malmoi tokenize TEXT…`: how a text is cut."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.answer import AsJson, print_json
from malmoi.cli.corpus import TextOptions
from malmoi.errors import BadSetting
from malmoi.text.corpus import Corpus
from malmoi.text.wordpiece import WordPiece

DEFAULT = TextOptions()


def tokenize_command(
    *texts: Annotated[str, Parameter(help="Texts to cut.")],
    file: Annotated[Path | None, Parameter(help="A file of texts instead.")] = None,
    options: TextOptions = DEFAULT,
    json: AsJson = False,
) -> None:
    """The tokens of each text, between spaces; of WordPiece the numbers too."""
    if bool(texts) == bool(file):
        raise BadSetting("give texts to cut, or a --file of them")
    cut = options.cut()
    documents = options.corpus(str(file)) if file else Corpus.of(texts)
    for text in documents:
        tokens = cut(text)
        if json:
            ids = {"ids": cut.ids(text)} if isinstance(cut, WordPiece) else {}
            print_json({"text": text, "tokens": tokens, **ids})
        else:
            print(" ".join(tokens))
            if isinstance(cut, WordPiece):
                print(" ".join(map(str, cut.ids(text))))
