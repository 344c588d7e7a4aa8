"""`malmoi embed TEXT… --model M`: the vectors of texts, of their words, or of their pieces."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.cli.answer import AsJson, print_json
from malmoi.cli.progress import bar
from malmoi.encode.embedding import Per, Wish, embed_records, write_embeddings
from malmoi.encode.encoder import load_contextual
from malmoi.encode.mixing import Mix
from malmoi.encode.pooling import Join, Pool
from malmoi.encode.recipes import RECIPES, choose_recipe
from malmoi.errors import BadSetting

SHOWN = 6  # numbers of a vector, where people read
Flag = Parameter(negative="", show_default=False)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class EmbedOptions:
    """What is wanted of each text."""

    layers: Annotated[
        str | None,
        Parameter(help="-2, 0,3,6, -4: or all; 0 goes into layer 1.", allow_leading_hyphen=True),
    ] = None
    mix: Annotated[Mix | None, Parameter(help="How several layers become one.")] = None
    pool: Annotated[Pool | None, Parameter(help="How pieces become one vector.")] = None
    recipe: Annotated[str | None, Parameter(help=f"{', '.join(RECIPES)}.")] = None
    weights: Annotated[
        tuple[float, ...],
        Parameter(help="Mix weighted: one a layer.", negative="", allow_leading_hyphen=True),
    ] = ()
    skip_special: Annotated[bool, Flag, Parameter(help="Without [CLS] and [SEP].")] = False
    per: Annotated[Per, Parameter(help="A vector per text, word or piece.")] = "text"
    join: Annotated[Join, Parameter(help="How pieces become a word.")] = "mean"
    prompt: Annotated[str | None, Parameter(help="One of the model's prompts, by name.")] = None

    def wish(self) -> Wish:
        """The options together; without any, the vectors are the model's own."""
        per: Per = "piece" if self.pool == "none" else self.per
        recipe = None
        if any((self.layers, self.mix, self.pool, self.recipe, self.weights, self.skip_special)):
            recipe = choose_recipe(self.recipe, layers=self.layers, mix=self.mix, pool=self.pool)
            special = recipe.special and not self.skip_special
            recipe = replace(recipe, weights=self.weights, special=special)
        return Wish(recipe=recipe, per=per, join=self.join, prompt=self.prompt)


DEFAULT = EmbedOptions()


def embed_command(
    *texts: Annotated[str, Parameter(help="Texts to embed.")],
    model: Annotated[str, Parameter(help="A model's folder, a name on the hub, or minilm.")],
    file: Annotated[
        str | None,
        Parameter(
            help="A file of texts instead, or - for standard input.", allow_leading_hyphen=True
        ),
    ] = None,
    field: Annotated[str | None, Parameter(help="The file's field or column of text.")] = None,
    options: EmbedOptions = DEFAULT,
    out: Annotated[Path | None, Parameter(help="A .npy or .jsonl to write.")] = None,
    json: AsJson = False,
) -> None:
    """The vectors of texts, printed or written."""
    if bool(texts) == bool(file):
        raise BadSetting("give texts to embed, or a --file of them")
    wish = options.wish()
    encoder = load_contextual(model)
    asked = list(read_texts(file, field)) if file else list(texts)
    if out is None:
        print_records(embed_records(encoder, asked, wish), json)
        return
    with bar(f"embedding {file or 'texts'}", "texts") as progress:
        write_embeddings(encoder, asked, out, wish, progress=progress)
    if json:
        print_json({"written": str(out), "texts": len(asked)})
    else:
        print(f"{out}: {len(asked):,} texts")


def read_texts(file: str, field: str | None) -> Iterator[str]:
    """The documents of a file; what reads them is loaded only now, for it takes a moment."""
    from malmoi.text.corpus import Corpus

    yield from Corpus.of(file, field=field)


def print_records(records: Iterator[dict[str, Any]], json: bool) -> None:
    """All numbers for programs; for people a text, and below it the first numbers of each."""
    if json:
        print_json(list(records))
        return
    for record in records:
        print(record["text"])
        if "vector" in record:
            print(f"  {_shortened(record['vector'])}")
        for kind in ("word", "piece"):
            for part in record.get(f"{kind}s", ()):
                print(f"  {part[kind]:<16} {_shortened(part['vector'])}")


def _shortened(vector: Sequence[float]) -> str:
    numbers = " ".join(f"{number:8.4f}" for number in vector[:SHOWN])
    return f"{numbers} … {len(vector)} numbers" if len(vector) > SHOWN else numbers
