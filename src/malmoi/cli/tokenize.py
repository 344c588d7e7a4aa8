"""`malmoi tokenize TEXT…`: how a text is cut, by a tokenizer or by a model's own."""

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
    *texts: Annotated[str, Parameter(help="Texts to cut.")],
    file: Annotated[Path | None, Parameter(help="A file of texts instead.")] = None,
    model: Annotated[
        str | None, Parameter(help="Cut as this model does: a folder, a hub's name, or minilm.")
    ] = None,
    pair: Annotated[bool, Flag, Parameter(help="With a model: two texts are one pair.")] = False,
    options: TextOptions = DEFAULT,
    json: AsJson = False,
) -> None:
    """The tokens of each text; of WordPiece the numbers too, of a model all it sees."""
    if bool(texts) == bool(file):
        raise InvalidArgumentError("give texts to cut, or a --file of them")
    if pair and (model is None or len(texts) != 2):
        raise InvalidArgumentError("a pair is two texts for a --model: give both")
    documents = options.corpus(str(file)) if file else Corpus.of(texts)
    if model is not None:
        show_model_tokens(documents, model, pair, json)
    else:
        show_tokens(documents, options, json)


def show_tokens(documents: Iterable[str], options: TextOptions, json: bool) -> None:
    """A line of tokens for each text."""
    cut = options.make_tokenizer()
    for text in documents:
        tokens = cut(text)
        if json:
            ids = {"ids": cut.ids(text)} if isinstance(cut, WordPiece) else {}
            print_json({"text": text, "tokens": tokens, **ids})
        else:
            print(" ".join(tokens))
            if isinstance(cut, WordPiece):
                print(" ".join(map(str, cut.ids(text))))


def show_model_tokens(documents: Iterable[str], model: str, pair: bool, json: bool) -> None:
    """One table per text: tokens, ids, token types, words and characters."""
    from malmoi.encode.encoder import load_transformer

    texts = list(documents)
    for found in load_transformer(model).tokenizer([(texts[0], texts[1])] if pair else texts):
        rows = [dict(zip(ROW, row, strict=True)) for row in rows_of(found)]
        if json:
            print_json({"text": found.text, "truncated": found.truncated, "tokens": rows})
            continue
        print(COLUMNS.format(*ROW))
        for row in rows:
            shown = ["" if value is None else value for value in row.values()]
            print(COLUMNS.format(*shown).rstrip())
        if found.truncated:
            print("…")


def rows_of(found: "Tokenized") -> Iterable[tuple[str, int, int, int | None, str | None]]:
    """One row per token; special tokens have no word and no characters."""
    columns = zip(
        found.tokens, found.ids, found.token_type_ids, found.word_ids, found.offsets, strict=True
    )
    for token, token_id, token_type, word, (start, stop) in columns:
        special = word < 0
        place = None if special else f"{start}–{stop}"
        yield token, int(token_id), int(token_type), None if special else int(word), place
