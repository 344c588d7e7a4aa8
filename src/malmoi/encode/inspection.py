"""What is in a model's folder, what is wrong with it, and what to do about it."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from malmoi.encode.checkpoint.config import Config, read_config
from malmoi.encode.checkpoint.locate import find_model, is_universal, precision_of
from malmoi.encode.checkpoint.sentence_transformers import (
    DenseModule,
    SentenceModules,
    read_modules,
)
from malmoi.encode.checkpoint.weights import open_weights, read_weights, weights_file, weights_files
from malmoi.encode.protocol import Arithmetic
from malmoi.encode.runtime.engine import arithmetic_of
from malmoi.encode.tokens.tokenizer import ModelTokenizer, load_tokenizer
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.formats.inspection import Finding

Result = TypeVar("Result")
KOREAN = "한국어를 읽는다"
ACCENT = "Été"
LETTERS = ("\u1100", "\u11ff")  # Hangul taken apart
MEND = "the model cannot be opened until this is mended"


@dataclass(frozen=True)
class ModelInspection:
    """A model's folder, described; what could not be read is empty."""

    path: str
    family: str
    layers: int
    dim: int
    heads: int
    vocabulary: int
    longest: int  # pieces of a text
    numbers: str  # how the file writes them
    arithmetic: Arithmetic  # what they are multiplied as here, by the ending of the name
    bytes: int
    tokenizer: str
    pooling: str
    prompts: tuple[str, ...]
    findings: tuple[Finding, ...]


def inspect_model(name: str) -> ModelInspection:
    """Open every part of a model's folder and say what was found."""
    if is_universal(name):
        raise InvalidArgumentError(
            f"{name} is a package with nothing to look into: malmoi embed runs it"
        )
    place, precision = precision_of(name)
    folder = find_model(place)
    findings: list[Finding] = []
    modules = _tried(lambda: read_modules(folder), findings) or SentenceModules(transformer=folder)
    config = read_config(modules.transformer)
    _tried(lambda: read_weights(weights_file(modules.transformer), config), findings)
    numbers, size = _tried(lambda: _numbers(modules.transformer), []) or ("", 0)
    cutter = _tried(lambda: load_tokenizer(modules, config), findings)
    if cutter is not None:
        findings += _hangul(cutter)
    return ModelInspection(
        path=str(folder),
        family=config.family,
        layers=config.layers,
        dim=config.dim,
        heads=config.heads,
        vocabulary=config.vocabulary,
        longest=cutter.longest if cutter else config.positions,
        numbers=numbers,
        arithmetic=arithmetic_of(precision),
        bytes=size,
        tokenizer=_described(cutter, config) if cutter else "",
        pooling=_pooling(modules),
        prompts=tuple(modules.prompts),
        findings=tuple(findings),
    )


def _tried(read: Callable[[], Result], findings: list[Finding]) -> Result | None:
    """What can be read; what cannot is a finding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read()
        except InvalidFileError as error:
            findings.append(Finding(str(error), 1, "", MEND))
            return None


def _numbers(folder: Path) -> tuple[str, int]:
    """The kinds of numbers of the weights, and how many bytes their files have."""
    path = weights_file(folder)
    dtypes = {tensor.dtype for tensor in open_weights(path).values()}
    kinds = {str(dtype) for dtype in dtypes if dtype.kind == "f"}
    return ", ".join(sorted(kinds)), sum(file.stat().st_size for file in weights_files(path))


def _described(cutter: ModelTokenizer, config: Config) -> str:
    """The kind of tokenizer, and what it makes of capitals and accents."""
    kind = type(cutter.tokenizer.model).__name__
    seen = _pieces(cutter, ACCENT)
    case = "cased" if any(map(str.isupper, "".join(seen))) else "lower case"
    return f"{kind}, {case}, {cutter.tokenizer.get_vocab_size():,} pieces"


def _hangul(cutter: ModelTokenizer) -> list[Finding]:
    """What is lost of Korean: looked at in the pieces, whatever the model is called."""
    pieces = _pieces(cutter, KOREAN)
    shown = f"{KOREAN} is {' '.join(pieces)}"
    if any(LETTERS[0] <= letter <= LETTERS[1] for piece in pieces for letter in piece):
        what = "Hangul falls apart into its letters, for accents are stripped"
    elif any(piece in ("[UNK]", "<unk>") for piece in pieces):
        what = "Hangul is unknown to it"
    else:
        return []
    advice = "texts are cut so all the same, as its training did; for Korean take another model"
    return [Finding(what, 0, shown, advice)]


def _pieces(cutter: ModelTokenizer, text: str) -> list[str]:
    uniform = cutter.uniform(text)
    found: list[str] = cutter.tokenizer.encode(uniform, add_special_tokens=False).tokens
    return found


def _pooling(modules: SentenceModules) -> str:
    kept = [f"the first {modules.first:,} numbers"] if modules.first else []
    return ", ".join([" and ".join(modules.pools), *map(_step, modules.steps), *kept])


def _step(step: object) -> str:
    return f"Dense to {len(step.bias)}" if isinstance(step, DenseModule) else "Normalize"
