"""`malmoi tokenize TEXT…`: the tokens of texts, by a tokenizer or a model."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, Flag, print_json
from malmoi.cli.shared.text_options import TextOptions
from malmoi.errors import InvalidArgumentError
from malmoi.text.corpus import Corpus
from malmoi.text.wordpiece import WordPiece

if TYPE_CHECKING:
    from malmoi.encode.tokens.tokenized import Tokenized

DEFAULT = TextOptions()
ROW = ("token", "id", "type", "word", "characters")
COLUMNS = "{:<18} {:>7} {:>8} {:>5}  {}"


def tokenize_command(
    *texts: Annotated[str, Parameter(help="Texts to tokenize.")],
    file: Annotated[Path | None, Parameter(help="A file of texts instead.")] = None,
    model: Annotated[
        str | None,
        Parameter(help="Use this model's tokenizer: a folder, a name on the Hub, or minilm."),
    ] = None,
    pair: Annotated[bool, Flag, Parameter(help="With a model: the two texts are a pair.")] = False,
    options: TextOptions = DEFAULT,
    json: AsJson = False,
) -> None:
    """Print the tokens of each text; with WordPiece their ids too, with a model all its inputs."""
    if bool(texts) == bool(file):
        raise InvalidArgumentError("pass texts to tokenize, or a --file of them")
    if pair and (model is None or len(texts) != 2):
        raise InvalidArgumentError("--pair needs a --model and two texts")
    documents = options.corpus(str(file)) if file else Corpus.of(texts)
    if model is not None:
        print_model_tokens(documents, model, pair, json)
    else:
        print_tokens(documents, options, json)


def print_tokens(documents: Iterable[str], options: TextOptions, json: bool) -> None:
    """Print one line of tokens per text."""
    tokenizer = options.make_tokenizer()
    for text in documents:
        tokens = tokenizer(text)
        if json:
            ids = {"ids": tokenizer.ids(text)} if isinstance(tokenizer, WordPiece) else {}
            print_json({"text": text, "tokens": tokens, **ids})
        else:
            print(" ".join(tokens))
            if isinstance(tokenizer, WordPiece):
                print(" ".join(map(str, tokenizer.ids(text))))


def print_model_tokens(documents: Iterable[str], model: str, pair: bool, json: bool) -> None:
    """Print one table per text: tokens, ids, token types, words and characters."""
    from malmoi.encode.loading import load_contextual

    texts = list(documents)
    inputs = [(texts[0], texts[1])] if pair else texts
    for tokenized in load_contextual(model).tokenizer(inputs):
        rows = list(rows_of(tokenized))
        if json:
            tokens = [dict(zip(ROW, row, strict=True)) for row in rows]
            print_json({"text": tokenized.text, "truncated": tokenized.truncated, "tokens": tokens})
            continue
        print(COLUMNS.format(*ROW))
        for row in rows:
            shown = ["" if value is None or isinstance(value, list) else value for value in row]
            print(COLUMNS.format(*shown).rstrip())
        if tokenized.truncated:
            print("…")


def rows_of(
    tokenized: "Tokenized",
) -> Iterable[tuple[str, int | list[int], int, int | None, str | None]]:
    """One row per token; special tokens have no word and no characters.

    A token of ELMo has the ids of its characters, which only JSON shows.
    """
    columns = zip(
        tokenized.tokens,
        tokenized.ids,
        tokenized.token_type_ids,
        tokenized.word_ids,
        tokenized.offsets,
        strict=True,
    )
    for token, token_id, token_type, word, (start, stop) in columns:
        special = word < 0
        characters = None if special else f"{start}–{stop}"
        yield token, token_id.tolist(), int(token_type), None if special else int(word), characters
