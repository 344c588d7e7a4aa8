"""What the commands that read text share: options that say what the text is and how it is cut."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.cli.shared.output import print_json
from malmoi.cli.shared.text_width import WIDTH
from malmoi.errors import InvalidArgumentError
from malmoi.files.targets import check_folder, refuse_source
from malmoi.text.corpus import Corpus
from malmoi.text.normalize import Normalizer
from malmoi.text.tokenizers import Tokenizer, make_tokenizer

Flag = Parameter(negative="", show_default=False)
Settings = Parameter(name="*", negative_iterable=())
Out = Annotated[Path, Parameter(help="The file to write; its ending names the format.")]
MinCount = Annotated[int, Parameter(help="Only words seen so often.")]
Text = Annotated[
    str,
    Parameter(
        help="A file of text, a folder of them, or - for standard input.",
        allow_leading_hyphen=True,
    ),
]
SHOWN = 8  # losses
OWNERS = {"tags": "korean", "keep": "korean", "pattern": "regex", "pieces": "wordpiece"}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """How text is read and cut."""

    tokenizer: Annotated[
        str, Parameter(help="whitespace, english, korean, syllables, jamo, wordpiece or regex.")
    ] = "whitespace"
    tags: Annotated[bool, Flag, Parameter(help="Korean: with parts of speech.")] = False
    keep: Annotated[
        tuple[str, ...], Parameter(help="Korean: only tags that begin like this.", negative="")
    ] = ()
    pattern: Annotated[str | None, Parameter(help="Regex: what a token is.")] = None
    pieces: Annotated[str | None, Parameter(help="WordPiece: a vocab.txt.")] = None
    field: Annotated[str | None, Parameter(help="The field or column that is the text.")] = None
    encoding: Annotated[str, Parameter(help="Of the files.")] = "utf-8"
    lower: Annotated[bool, Flag, Parameter(help="Fold case.")] = False
    digits: Annotated[bool, Flag, Parameter(help="Turn each digit into 0.")] = False
    repeats: Annotated[int | None, Parameter(help="Cut ㅋㅋㅋㅋ down to so many.")] = None

    def corpus(self, text: str) -> Corpus:
        """The documents."""
        uniform = Normalizer(lower=self.lower, digits=self.digits, repeats=self.repeats)
        return Corpus.of(text, field=self.field, encoding=self.encoding, normalizer=uniform)

    def cut(self) -> Tokenizer:
        """The tokenizer with its own options; another's are refused."""
        for name, owner in OWNERS.items():
            if getattr(self, name) and owner != self.tokenizer:
                raise InvalidArgumentError(
                    f"--{name} is an option of --tokenizer {owner}, and this one is"
                    f" {self.tokenizer}: leave one of them out"
                )
        options: dict[str, dict[str, Any]] = {
            "korean": {"tags": self.tags, "keep": self.keep},
            "regex": {"pattern": self.pattern or r"\w+"},
            "wordpiece": {"vocabulary": self.pieces or "", "lower": self.lower},
        }
        return make_tokenizer(self.tokenizer, **options.get(self.tokenizer, {}))


def check_target(corpus: str, out: Path) -> None:
    """Refuse a place that cannot be written to, or has the text itself, before the long work."""
    check_folder(out)
    refuse_source(Path(corpus), out)


def say_written(
    out: Path,
    facts: dict[str, int],
    json: bool,
    losses: Sequence[float | None] = (),
    *,
    each: str = "epoch",
) -> None:
    """What was made, and how the training's loss fell."""
    if json:
        print_json({"written": str(out), **facts} | ({"losses": list(losses)} if losses else {}))
        return
    print(f"{out}: " + ", ".join(f"{value:,} {name}" for name, value in facts.items()))
    if losses:
        print(loss_line(losses, each))


def loss_line(losses: Sequence[float | None], each: str) -> str:
    """How a loss fell, in a line that fits a terminal: all of it, or its beginning and end."""
    numbers = ["none" if loss is None else f"{loss:.4g}" for loss in losses]
    line = ""
    for half in range(SHOWN // 2, 0, -1):
        many = len(numbers) > 2 * half
        shown = [*numbers[:half], "…", *numbers[-half:]] if many else numbers
        line = f"loss, {each} by {each}: {' '.join(shown)}"
        if len(line) <= WIDTH:
            break
    return line
