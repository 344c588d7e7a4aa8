"""`malmoi embed TEXT…`: the vectors of texts, of their words, or of their pieces."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from malmoi.cli.shared.default_model import model_for
from malmoi.cli.shared.output import AsJson, print_json, print_json_list
from malmoi.cli.shared.progress import progress_bar
from malmoi.cli.shared.resume import resumable
from malmoi.cli.shared.text_width import WIDTH, fitted
from malmoi.encode.bulk.embed import EmbeddedTexts, EmbedSettings, Per, embed
from malmoi.encode.bulk.outputs import check_ending
from malmoi.encode.bulk.write_file import NOTED, WriteReport, write_embeddings
from malmoi.encode.loading import load_encoder
from malmoi.encode.pooling.groups import Join, Pool
from malmoi.encode.pooling.mixing import Mix
from malmoi.encode.pooling.recipes import RECIPES, choose_recipe
from malmoi.encode.tokens.windows import Long
from malmoi.errors import InvalidArgumentError, MalmoiWarning
from malmoi.files.targets import check_not_source, check_writable

if TYPE_CHECKING:
    from malmoi.text.corpus import Texts

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
        Parameter(help="Mix weighted: one a layer.", negative="", consume_multiple=True),
    ] = ()
    skip_special: Annotated[bool, Flag, Parameter(help="Without [CLS] and [SEP].")] = False
    per: Annotated[Per, Parameter(help="A vector per text, word or piece.")] = "text"
    join: Annotated[Join, Parameter(help="How pieces become a word.")] = "mean"
    prompt: Annotated[str | None, Parameter(help="One of the model's prompts, by name.")] = None
    long: Annotated[Long, Parameter(help="Texts longer than the model takes.")] = "truncate"
    overlap: Annotated[int | None, Parameter(help="Pieces that windows share; half of them.")] = (
        None
    )

    def wish(self) -> EmbedSettings:
        """The options together; without any, the vectors are the model's own."""
        self._refuse_idle()
        per: Per = "piece" if self.pool == "none" else self.per
        recipe = None
        if any((self.layers, self.mix, self.pool, self.recipe, self.weights, self.skip_special)):
            recipe = choose_recipe(self.recipe, layers=self.layers, mix=self.mix, pool=self.pool)
            special = recipe.special and not self.skip_special
            recipe = replace(recipe, weights=self.weights, special=special)
        return EmbedSettings(
            recipe=recipe,
            per=per,
            join=self.join,
            prompt=self.prompt,
            long=self.long,
            overlap=self.overlap,
        )

    def _refuse_idle(self) -> None:
        """Refuse what would do nothing beside the other options."""
        if self.pool not in (None, "none") and self.per != "text":
            raise InvalidArgumentError(
                f"--pool {self.pool} makes a vector per text, not per {self.per}"
            )
        if self.pool == "none" and self.per == "word":
            raise InvalidArgumentError(
                "--pool none leaves pieces as they are: words are made by --join"
            )
        if self.join != "mean" and self.per != "word":
            raise InvalidArgumentError(
                f"--join {self.join} makes words of pieces: ask for --per word"
            )


DEFAULT = EmbedOptions()


def embed_command(
    *texts: Annotated[str, Parameter(help="Texts to embed.")],
    model: Annotated[
        str | None,
        Parameter(help="A model's folder or hub name, minilm, use, or word vectors; by the text."),
    ] = None,
    file: Annotated[
        str | None,
        Parameter(
            help="A file or folder of texts instead, or - for standard input.",
            allow_leading_hyphen=True,
        ),
    ] = None,
    field: Annotated[str | None, Parameter(help="The file's field or column of text.")] = None,
    encoding: Annotated[str, Parameter(help="Of the file.")] = "utf-8",
    options: EmbedOptions = DEFAULT,
    out: Annotated[
        Path | None, Parameter(help="A .npy, .jsonl, .parquet or .malmoi to write.")
    ] = None,
    resume: Annotated[
        bool, Flag, Parameter(help="Go on from the checkpoint of a run that was broken off.")
    ] = False,
    json: AsJson = False,
) -> None:
    """The vectors of texts, printed or written."""
    if bool(texts) == bool(file):
        raise InvalidArgumentError("give texts to embed, or a --file of them")
    if resume and out is None:
        raise InvalidArgumentError(
            "there is nothing to resume: a run with --out can be gone on with"
        )
    wish = options.wish()
    if out is not None:
        check_ending(out, wish.per)
        check_writable(out)
        if file:
            check_not_source(Path(file), out)
    asked = read_texts(file, field, encoding) if file else texts
    encoder = load_encoder(model or model_for(asked, layers=wish != EmbedSettings()))
    if out is None:
        print_records(embed(encoder, asked, wish), wish.per, json)
        return
    with (
        resumable(out),
        progress_bar(f"reading {file}") as reading,
        progress_bar("embedding", "texts") as progress,
    ):
        report = write_embeddings(
            encoder, asked, out, wish, resume=resume, progress=progress, reading=reading
        )
    say_report(out, report, json)


def read_texts(file: str, field: str | None, encoding: str) -> "Texts":
    """The documents of a file; what reads them is loaded only now, for it takes a moment."""
    from malmoi.text.corpus import Corpus

    return Corpus.of(file, field=field, encoding=encoding).texts


def print_records(chunks: Iterator[EmbeddedTexts], per: Per, json: bool) -> None:
    """All numbers for programs; for people a text, and below it the first numbers of each."""
    records = (record for chunk in chunks for record in chunk.records(per))
    if json:
        print_json_list(records)
        return
    for record in records:
        print(fitted(" ".join(record["text"].split()), WIDTH).rstrip())
        if "vector" in record:
            print(f"  {_shortened(record['vector'])}")
        for part in record.get(f"{per}s", ()):
            print(f"  {fitted(part[per], 16)} {_shortened(part['vector'], SHOWN - 1)}")


def say_report(out: Path, report: WriteReport, json: bool) -> None:
    """What was written; of what there is something to say, all for programs, a few for people."""
    notes = report.notes
    if json:
        numbers = {name: getattr(notes, name) for name in NOTED}
        facts = {"texts": report.texts, "rows": report.rows, "dim": report.dim}
        others = {"repeated": report.repeated, "undecoded": report.undecoded}
        print_json({"written": str(out), **facts, **others, **numbers})
        return
    for sentence in report.sentences():
        warnings.warn(sentence, MalmoiWarning, stacklevel=2)
    print(f"{out}: {report.rows:,} × {report.dim}")


def _shortened(vector: Sequence[float], shown: int = SHOWN) -> str:
    numbers = " ".join(f"{number:8.4f}" for number in vector[:shown])
    return f"{numbers} … {len(vector)} numbers" if len(vector) > shown else numbers
