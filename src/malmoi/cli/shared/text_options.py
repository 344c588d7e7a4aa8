"""Shared by commands that read text: options for reading, normalizing and tokenizing."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.cli.shared.output import Flag, print_json
from malmoi.cli.shared.text_width import WIDTH
from malmoi.errors import InvalidArgumentError
from malmoi.files.targets import check_not_source, check_writable
from malmoi.text.corpus import Corpus
from malmoi.text.normalize import Normalizer
from malmoi.text.tokenizers import Tokenizer, make_tokenizer

Settings = Parameter(name="*", negative_iterable=())
Out = Annotated[Path, Parameter(help="The file to write; its suffix selects the format.")]
MinCount = Annotated[int, Parameter(help="Ignore words that occur less often.")]
On = Annotated[str, Parameter(help="Where to count: local, ray, or ray://host:port.")]
CorpusArgument = Annotated[
    str,
    Parameter(
        help="A text file, a folder of text files, or - for standard input.",
        allow_leading_hyphen=True,
    ),
]
MAX_LOSSES = 8  # printed
TOKENIZER_OF_OPTION = {
    "tags": "korean",
    "keep": "korean",
    "pattern": "regex",
    "vocab_file": "wordpiece",
    "cased": "english",
    "marks": "english",
}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """How text is read, normalized and tokenized."""

    tokenizer: Annotated[
        str, Parameter(help="whitespace, english, korean, syllables, jamo, wordpiece or regex.")
    ] = "whitespace"
    tags: Annotated[bool, Flag, Parameter(help="korean: append part-of-speech tags.")] = False
    keep: Annotated[
        tuple[str, ...], Parameter(help="korean: only tags with these prefixes.", negative="")
    ] = ()
    cased: Annotated[bool, Flag, Parameter(help="english: keep capital letters.")] = False
    marks: Annotated[bool, Flag, Parameter(help="english: keep punctuation marks.")] = False
    pattern: Annotated[str | None, Parameter(help="regex: the pattern of a token.")] = None
    vocab_file: Annotated[str | None, Parameter(help="wordpiece: a vocab.txt.")] = None
    field: Annotated[str | None, Parameter(help="Field or column that holds the text.")] = None
    encoding: Annotated[str, Parameter(help="Encoding of the files.")] = "utf-8"
    lower: Annotated[bool, Flag, Parameter(help="Fold case.")] = False
    digits: Annotated[bool, Flag, Parameter(help="Replace each digit by 0.")] = False
    repeats: Annotated[int | None, Parameter(help="Shorten runs (ㅋㅋㅋㅋ) to so many.")] = None

    def corpus(self, text: str) -> Corpus:
        """The corpus of a text argument."""
        normalizer = Normalizer(lower=self.lower, digits=self.digits, repeats=self.repeats)
        return Corpus.of(text, field=self.field, encoding=self.encoding, normalizer=normalizer)

    def make_tokenizer(self) -> Tokenizer:
        """The tokenizer; raises `InvalidArgumentError` for options of another tokenizer."""
        for name, owner in TOKENIZER_OF_OPTION.items():
            if getattr(self, name) and owner != self.tokenizer:
                option = name.replace("_", "-")
                raise InvalidArgumentError(
                    f"--{option} is an option of --tokenizer {owner}, not of {self.tokenizer}:"
                    " leave one of them out"
                )
        options: dict[str, dict[str, Any]] = {
            "korean": {"tags": self.tags, "keep": self.keep},
            "english": {"lower": not self.cased, "marks": self.marks},
            "regex": {"pattern": self.pattern or r"\w+"},
            "wordpiece": {"vocabulary": self.vocab_file or "", "lower": self.lower},
        }
        return make_tokenizer(self.tokenizer, **options.get(self.tokenizer, {}))


def split_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """The names of columns: --columns A,B, or --columns A --columns B."""
    return tuple(name for names in columns for name in names.split(","))


def check_target(corpus: str, out: Path) -> None:
    """Check before a long run that `out` can be written and does not replace the corpus."""
    check_writable(out)
    check_not_source(Path(corpus), out)


def print_written(
    out: Path,
    facts: dict[str, int],
    json: bool,
    losses: Sequence[float | None] = (),
    *,
    each: str = "epoch",
) -> None:
    """Print what was written, and the losses of a training."""
    if json:
        print_json({"written": str(out), **facts} | ({"losses": list(losses)} if losses else {}))
        return
    print(f"{out}: " + ", ".join(f"{value:,} {name}" for name, value in facts.items()))
    if losses:
        print(format_losses(losses, each))


def format_losses(losses: Sequence[float | None], each: str) -> str:
    """The losses in one line that fits a terminal: all, or the first and the last ones."""
    numbers = ["none" if loss is None else f"{loss:.4g}" for loss in losses]
    line = ""
    for half in range(MAX_LOSSES // 2, 0, -1):
        is_long = len(numbers) > 2 * half
        shown = [*numbers[:half], "…", *numbers[-half:]] if is_long else numbers
        line = f"loss per {each}: {' '.join(shown)}"
        if len(line) <= WIDTH:
            break
    return line
