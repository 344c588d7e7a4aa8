"""Describes a model folder, finds its faults, and suggests what to do about them."""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from malmoi.encode.checkpoint.config import read_config
from malmoi.encode.checkpoint.elmo_options import MAX_LENGTH, is_elmo_folder, read_options
from malmoi.encode.checkpoint.elmo_weights import (
    elmo_weights_file,
    expected_shapes,
    open_elmo_tensors,
    read_elmo_weights,
)
from malmoi.encode.checkpoint.locate import find_model, is_universal, split_precision
from malmoi.encode.checkpoint.sentence_transformers import (
    DenseModule,
    SentenceModules,
    read_modules,
)
from malmoi.encode.checkpoint.static_folder import (
    StaticParts,
    is_static_folder,
    read_static_folder,
)
from malmoi.encode.checkpoint.weights import open_weights, read_weights, weights_file, weights_files
from malmoi.encode.protocol import Arithmetic
from malmoi.encode.runtime.engine import arithmetic_of
from malmoi.encode.tokens.tokenizer import UNKNOWN_TOKENS, ModelTokenizer, load_tokenizer
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.formats.inspection import Finding

Result = TypeVar("Result")
KOREAN = "한국어를 읽는다"
ACCENT = "Été"
BYTE_TOKEN = re.compile("<0x[0-9A-F]{2}>")  # of a character that has no token
JAMO = ("\u1100", "\u11ff")  # decomposed Hangul
REPAIR_FIRST = "the model cannot be loaded until this is repaired"


@dataclass(frozen=True)
class ModelInspection:
    """The description of a model folder; parts that cannot be read are empty."""

    path: str
    family: str
    layers: int  # 0 for a static encoder
    dim: int
    heads: int  # 0 without attention
    vocab_size: int  # 0 for a model that reads any word by its characters
    max_length: int  # tokens of a text; 0 without a limit
    dtypes: str  # of the weights in the file
    arithmetic: Arithmetic  # in which they are multiplied here, by the suffix of the name
    bytes: int
    tokenizer: str
    pooling: str
    prompts: tuple[str, ...]
    findings: tuple[Finding, ...]


def inspect_model(name: str) -> ModelInspection:
    """Read every part of a model folder and collect findings.

    Raises:
        InvalidArgumentError: The name is that of a package without a folder.
        InvalidFileError: There is no such model, or no config.json.
    """
    if is_universal(name):
        raise InvalidArgumentError(
            f"{name} is a package without a model folder: 'malmoi embed' runs it"
        )
    path, precision = split_precision(name)
    folder = find_model(path)
    findings: list[Finding] = []
    if is_static_folder(folder):
        return _inspect_static(folder)
    if is_elmo_folder(folder):
        return _inspect_elmo(folder)
    modules = _try(lambda: read_modules(folder), findings) or SentenceModules(transformer=folder)
    config = read_config(modules.transformer)
    _try(lambda: read_weights(weights_file(modules.transformer), config), findings)
    dtypes, size = _try(lambda: _dtypes(modules.transformer), []) or ("", 0)
    tokenizer = _try(lambda: load_tokenizer(modules, config), findings)
    if tokenizer is not None:
        findings += _hangul(tokenizer)
    return ModelInspection(
        path=str(folder),
        family=config.family,
        layers=config.layers,
        dim=config.dim,
        heads=config.heads,
        vocab_size=config.vocab_size,
        max_length=tokenizer.max_length if tokenizer else config.positions,
        dtypes=dtypes,
        arithmetic=arithmetic_of(precision),
        bytes=size,
        tokenizer=_described(tokenizer) if tokenizer else "",
        pooling=_pooling(modules),
        prompts=tuple(modules.prompts),
        findings=tuple(findings),
    )


def _inspect_static(folder: Path) -> ModelInspection:
    """The description of a static encoder, which has no layers."""
    findings: list[Finding] = []
    parts: StaticParts | None = _try(lambda: read_static_folder(folder), findings)
    tokenizer = None if parts is None else ModelTokenizer(parts.tokenizer, parts.max_length or 0)
    dtypes, size = ("", 0) if parts is None else _dtypes(parts.folder)
    if tokenizer is not None:
        findings += _hangul(tokenizer)
    return ModelInspection(
        path=str(folder),
        family="static",
        layers=0,
        dim=0 if parts is None else parts.table.shape[1],
        heads=0,
        vocab_size=0 if parts is None else len(parts.table),
        max_length=0 if parts is None else parts.max_length or 0,
        dtypes=dtypes,
        arithmetic="float32",
        bytes=size,
        tokenizer=_described(tokenizer) if tokenizer else "",
        pooling="mean, Normalize" if parts is not None and parts.normalize else "mean",
        prompts=(),
        findings=tuple(findings),
    )


def _inspect_elmo(folder: Path) -> ModelInspection:
    """The description of an ELMo model, whose layers are LSTMs."""
    findings: list[Finding] = []
    config = read_options(folder)
    _try(lambda: read_elmo_weights(folder, config), findings)
    path = _try(lambda: elmo_weights_file(folder), [])
    dtypes = set[str]()
    if path is not None and not findings:
        tensors = open_elmo_tensors(path)
        dtypes = {str(tensors[name].dtype) for name in expected_shapes(config) if name in tensors}
    return ModelInspection(
        path=str(folder),
        family="elmo",
        layers=config.layers,
        dim=config.dim,
        heads=0,
        vocab_size=0,
        max_length=MAX_LENGTH,
        dtypes=", ".join(sorted(dtypes)),
        arithmetic="float32",
        bytes=0 if path is None else path.stat().st_size,
        tokenizer=f"words by {config.tokenizer or 'the rules of english'}, read as {config.units}",
        pooling="mean of all layers, mean",
        prompts=(),
        findings=tuple(findings),
    )


def _try(read: Callable[[], Result], findings: list[Finding]) -> Result | None:
    """The result of `read`; an InvalidFileError becomes a finding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read()
        except InvalidFileError as error:
            findings.append(Finding(str(error), 1, "", REPAIR_FIRST))
            return None


def _dtypes(folder: Path) -> tuple[str, int]:
    """The dtypes of the weights, and the size of their files in bytes."""
    path = weights_file(folder)
    dtypes = {tensor.dtype for tensor in open_weights(path).values()}
    kinds = {str(dtype) for dtype in dtypes if dtype.kind == "f"}
    return ", ".join(sorted(kinds)), sum(file.stat().st_size for file in weights_files(path))


def _described(tokenizer: ModelTokenizer) -> str:
    """The kind of tokenizer, its case and its vocabulary size."""
    kind = type(tokenizer.backend.model).__name__
    letters = BYTE_TOKEN.sub("", "".join(_tokens(tokenizer, ACCENT)))
    case = "cased" if any(map(str.isupper, letters)) else "lower case"
    return f"{kind}, {case}, {tokenizer.backend.get_vocab_size():,} tokens"


def _hangul(tokenizer: ModelTokenizer) -> list[Finding]:
    """What the tokenizer loses of Korean text."""
    tokens = _tokens(tokenizer, KOREAN)
    example = f"{KOREAN} is {' '.join(tokens)}"
    if any(JAMO[0] <= letter <= JAMO[1] for token in tokens for letter in token):
        what = "Hangul is split into jamo, because the tokenizer strips accents"
    elif any(token in UNKNOWN_TOKENS for token in tokens):
        what = "Hangul is unknown to the tokenizer"
    else:
        return []
    advice = "texts are tokenized as in its training; for Korean choose another model"
    return [Finding(what, 0, example, advice)]


def _tokens(tokenizer: ModelTokenizer, text: str) -> list[str]:
    normalized = tokenizer.normalize(text)
    tokens: list[str] = tokenizer.backend.encode(normalized, add_special_tokens=False).tokens
    return tokens


def _pooling(modules: SentenceModules) -> str:
    dim = modules.truncate_dim
    kept = [f"the first {dim:,} dimensions"] if dim else []
    return ", ".join([" and ".join(modules.pools), *map(_step, modules.steps), *kept])


def _step(step: object) -> str:
    return f"Dense to {len(step.bias)}" if isinstance(step, DenseModule) else "Normalize"
