"""`malmoi embed TEXT…`: the vectors of texts, of their words, or of their tokens."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from malmoi.cli.shared.default_model import model_for
from malmoi.cli.shared.output import AsJson, Flag, print_json, print_json_list
from malmoi.cli.shared.resume import resumable
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_width import WIDTH, fitted
from malmoi.encode.bulk.embed import EmbeddedTexts, EmbedSettings, Per, embed
from malmoi.encode.bulk.outputs import check_suffix
from malmoi.encode.bulk.write_file import POSITION_LISTS, WriteReport, write_embeddings
from malmoi.encode.loading import load_encoder
from malmoi.encode.pooling.groups import Pool, WordPooling
from malmoi.encode.pooling.layer_pooling import LayerPooling
from malmoi.encode.pooling.recipes import RECIPES, requested_recipe
from malmoi.encode.tokens.windows import Overflow
from malmoi.errors import InvalidArgumentError, warn
from malmoi.files.targets import check_not_source, check_writable
from malmoi.scale.inputs import is_pattern
from malmoi.scale.settings import ShardSettings

if TYPE_CHECKING:
    from malmoi.text.corpus import Texts

SHOWN_VALUES = 6  # numbers of a vector, where people read


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class EmbedOptions:
    """What to compute for each text."""

    layers: Annotated[
        str | None,
        Parameter(
            help="Hidden states: -2, 0,3,6, -4: or all (0: the input embeddings).",
            allow_leading_hyphen=True,
        ),
    ] = None
    layer_pooling: Annotated[
        LayerPooling | None, Parameter(help="How several layers become one.")
    ] = None
    pool: Annotated[Pool | None, Parameter(help="How tokens become one vector.")] = None
    recipe: Annotated[str | None, Parameter(help=f"{', '.join(RECIPES)}.")] = None
    weights: Annotated[
        tuple[float, ...],
        Parameter(
            help="One weight per layer, for --layer-pooling weighted.",
            negative="",
            consume_multiple=True,
        ),
    ] = ()
    skip_special: Annotated[bool, Flag, Parameter(help="Without [CLS] and [SEP].")] = False
    include_special: Annotated[bool, Flag, Parameter(help="With `<S>` and `</S>` of ELMo.")] = False
    per: Annotated[Per, Parameter(help="One vector per text, word or token.")] = "text"
    word_pooling: Annotated[WordPooling, Parameter(help="How tokens become a word.")] = "mean"
    prompt: Annotated[str | None, Parameter(help="One of the model's prompts, by name.")] = None
    overflow: Annotated[Overflow, Parameter(help="Texts longer than the model takes.")] = "truncate"
    overlap: Annotated[int | None, Parameter(help="Tokens that windows share (default: half).")] = (
        None
    )

    def settings(self) -> EmbedSettings:
        """The options together; without any, the vectors are the model's own."""
        self._check_conflicts()
        per: Per = "token" if self.pool == "none" else self.per
        recipe = requested_recipe(
            self.recipe or None,
            layers=self.layers or None,
            layer_pooling=self.layer_pooling,
            pool=self.pool,
            weights=self.weights or None,
            include_special_tokens=self._include_special_tokens(),
        )
        return EmbedSettings(
            recipe=recipe,
            per=per,
            word_pooling=self.word_pooling,
            prompt=self.prompt,
            overflow=self.overflow,
            overlap=self.overlap,
        )

    def _include_special_tokens(self) -> bool | None:
        """None: as the model does."""
        if self.skip_special and self.include_special:
            raise InvalidArgumentError("--skip-special and --include-special exclude each other")
        return self.include_special if self.skip_special or self.include_special else None

    def _check_conflicts(self) -> None:
        """Raise if an option would have no effect beside the others."""
        if self.pool not in (None, "none") and self.per != "text":
            raise InvalidArgumentError(
                f"--pool {self.pool} makes a vector per text, not per {self.per}"
            )
        if self.pool == "none" and self.per == "word":
            raise InvalidArgumentError(
                "--pool none gives tokens: words are pooled by --word-pooling"
            )
        if self.word_pooling != "mean" and self.per != "word":
            raise InvalidArgumentError(f"--word-pooling {self.word_pooling} needs --per word")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ShardOptions:
    """Where shards are embedded, and what is written for each text."""

    on: Annotated[
        str | None,
        Parameter(help="Embed shards into a folder: local, ray, or ray://host:port."),
    ] = None
    id: Annotated[str | None, Parameter(help="Shards: field of an id to write too.")] = None
    with_text: Annotated[bool, Flag, Parameter(help="Shards: write the texts too.")] = False

    def settings(self, field: str | None, encoding: str, embed: EmbedSettings) -> ShardSettings:
        """All settings of shards."""
        return ShardSettings(
            field=field, id=self.id, text=self.with_text, encoding=encoding, embed=embed
        )


DEFAULT, NO_SHARDS = EmbedOptions(), ShardOptions()


def embed_command(
    *texts: Annotated[str, Parameter(help="Texts to embed.")],
    model: Annotated[
        str | None,
        Parameter(
            help="A model folder, a name on the Hub, a file of vectors, minilm or use (default: by"
            " the language of the texts)."
        ),
    ] = None,
    file: Annotated[
        str | None,
        Parameter(
            help="A file or folder of texts instead, or - for standard input; shards by a pattern"
            " such as 'texts/*.parquet'.",
            allow_leading_hyphen=True,
        ),
    ] = None,
    field: Annotated[str | None, Parameter(help="Field or column that holds the text.")] = None,
    shards: ShardOptions = NO_SHARDS,
    encoding: Annotated[str, Parameter(help="Encoding of the file.")] = "utf-8",
    options: EmbedOptions = DEFAULT,
    out: Annotated[
        Path | None,
        Parameter(help="A .npy, .jsonl, .parquet or .malmoi to write; a folder for shards."),
    ] = None,
    resume: Annotated[
        bool, Flag, Parameter(help="Resume an interrupted run from its checkpoint.")
    ] = False,
    json: AsJson = False,
) -> None:
    """The vectors of texts, printed or written."""
    if bool(texts) == bool(file):
        raise InvalidArgumentError("give texts to embed, or a --file of them")
    if resume and out is None:
        raise InvalidArgumentError("--resume needs --out")
    settings = options.settings()
    if file and (shards != NO_SHARDS or is_pattern(file)):
        embed_shards(file, model, out, shards.settings(field, encoding, settings), shards.on, json)
        return
    if out is not None:
        check_suffix(out, settings.per)
        check_writable(out)
        if file:
            check_not_source(Path(file), out)
    all_texts = read_texts(file, field, encoding) if file else texts
    encoder = load_encoder(model or model_for(all_texts, layers=settings != EmbedSettings()))
    if out is None:
        print_records(embed(encoder, all_texts, settings), settings.per, json)
        return
    with resumable(out), TerminalReporter() as reporter:
        report = write_embeddings(
            encoder, all_texts, out, settings, resume=resume, reporter=reporter
        )
    print_report(out, report, json)


def embed_shards(
    file: str, model: str | None, out: Path | None, settings: ShardSettings, on: str | None,
    json: bool,
) -> None:  # fmt: skip
    """Embed shards into a folder, here or on a cluster; what is there already is skipped."""
    from malmoi.scale.embedding import embed as embed_files
    from malmoi.scale.embedding import find_sample

    if out is None:
        raise InvalidArgumentError("shards need --out, a folder for the vectors")
    chosen = model or model_for(
        find_sample(file, settings), layers=settings.embed != EmbedSettings()
    )
    with TerminalReporter() as reporter:
        report = embed_files(file, chosen, out, settings, on=on or "local", reporter=reporter)
    if json:
        print_json({"written": str(out), **asdict(report)})
        return
    for sentence in report.warnings:
        warn(sentence)
    before = f", {report.skipped:,} of them written before" if report.skipped else ""
    print(f"{out}: {report.rows:,} × {report.dim} in {report.shards:,} shards{before}")


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
            print(f"  {fitted(part[per], 16)} {_shortened(part['vector'], SHOWN_VALUES - 1)}")


def print_report(out: Path, report: WriteReport, json: bool) -> None:
    """What was written; of what there is something to say, all for programs, a few for people."""
    stats = report.stats
    if json:
        numbers = {name: getattr(stats, name) for name in POSITION_LISTS}
        facts = {"texts": report.texts, "rows": report.rows, "dim": report.dim}
        others = {"repeated": report.repeated, "undecoded": report.undecoded}
        print_json({"written": str(out), **facts, **others, **numbers})
        return
    for sentence in report.sentences():
        warn(sentence)
    print(f"{out}: {report.rows:,} × {report.dim}")


def _shortened(vector: Sequence[float], shown: int = SHOWN_VALUES) -> str:
    numbers = " ".join(f"{number:8.4f}" for number in vector[:shown])
    return f"{numbers} … {len(vector)} numbers" if len(vector) > shown else numbers
