"""Reads the folder of a cross-encoder: its classifier head, its activation and its prompts.

A head is a dense layer on the first token with an activation, and a linear layer to one number:

bert         pooler.dense, tanh         classifier
distilbert   pre_classifier, ReLU       classifier
electra      classifier.dense, GELU     classifier.out_proj
all others   classifier.dense, tanh     classifier.out_proj

Knows nothing of texts and of engines.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.config import Config, read_json
from malmoi.encode.checkpoint.sentence_transformers import (
    DenseModule,
    SentenceModules,
    module_folders,
    read_options,
)
from malmoi.encode.checkpoint.weights import is_finite, open_weights, short_name, weights_file
from malmoi.errors import InvalidFileError, warn
from malmoi.files.tensors import Tensors

HEADS = {
    "bert": ("pooler.dense", "Tanh", "classifier"),
    "distilbert": ("pre_classifier", "ReLU", "classifier"),
    "electra": ("classifier.dense", "GELU", "classifier.out_proj"),
}
OTHER_HEADS = ("classifier.dense", "Tanh", "classifier.out_proj")
NEEDED = "a cross-encoder is a transformer for sequence classification with one output"


def sigmoid(logits: Float32Array) -> Float32Array:
    """1 / (1 + exp(-x)), which neither overflows nor loses small values."""
    small = np.exp(-np.abs(logits))
    return np.where(logits >= 0, 1 / (1 + small), small / (1 + small)).astype(np.float32)


SCORE_ACTIVATIONS: dict[str, Callable[[Float32Array], Float32Array]] = {
    "identity": lambda logits: logits,
    "sigmoid": sigmoid,
    "tanh": np.tanh,
}


def is_cross_encoder(folder: Path) -> bool:
    """Whether a folder holds a model for sequence classification with one output."""
    path = folder / "config.json"
    values = read_json(path) if path.is_file() else {}
    architectures = values.get("architectures") or []
    is_classifier = any(str(one).endswith("ForSequenceClassification") for one in architectures)
    return is_classifier and len(values.get("id2label") or [""]) == 1


def read_cross_encoder(folder: Path) -> SentenceModules:
    """The transformer of a folder with its maximum length and prompts, without the head."""
    if not (folder / "modules.json").is_file():
        return SentenceModules(transformer=folder, **read_options(folder, folder))
    modules = module_folders(folder)
    if [kind for kind, _ in modules] != ["Transformer"]:
        kinds = ", ".join(kind for kind, _ in modules)
        raise InvalidFileError(
            f"{folder} is not a cross-encoder: its modules are {kinds}, but only Transformer alone"
            f" is supported, since {NEEDED}"
        )
    transformer = modules[0][1]
    return SentenceModules(transformer=transformer, **read_options(folder, transformer))


def read_head(folder: Path, config: Config) -> tuple[DenseModule, DenseModule]:
    """The two layers after the first token's last state, [dim] to [dim] to one logit.

    Raises:
        InvalidFileError: There is no head, or it has several outputs or wrong shapes.
    """
    path = weights_file(folder)
    tensors = {short_name(name): tensor for name, tensor in open_weights(path).items()}
    dense, activation, output = HEADS.get(config.family, OTHER_HEADS)
    for name in (output, dense):
        if f"{name}.weight" not in tensors:
            raise InvalidFileError(
                f"{path} has no classifier head ('{name}.weight' is missing): {NEEDED}"
            )
    count = len(tensors[f"{output}.weight"])
    if count != 1:
        raise InvalidFileError(f"{path} is a classifier of {count} labels: {NEEDED}")
    return (
        _read_layer(path, tensors, dense, (config.dim, config.dim), activation),
        _read_layer(path, tensors, output, (1, config.dim), "Identity"),
    )


def read_activation(folder: Path, transformer: Path) -> str:
    """What makes a score of a logit: a key of `SCORE_ACTIVATIONS`, sigmoid by default.

    sentence-transformers writes it to one of three places; the first of them decides.
    """
    saved, own = folder / "config_sentence_transformers.json", transformer / "config.json"
    config = read_json(own)
    of_config = config.get("sentence_transformers")
    candidates = {
        saved: read_json(saved).get("activation_fn") if saved.is_file() else None,
        own: (of_config.get("activation_fn") if isinstance(of_config, dict) else None)
        or config.get("sbert_ce_default_activation_function"),
    }
    for path, value in candidates.items():
        if value is None:
            continue
        name = str(value).rsplit(".", 1)[-1].lower()
        if not str(value).startswith("torch."):
            warn(f"{path}: the activation '{value}' is not one of torch: scores are sigmoids")
        elif name in SCORE_ACTIVATIONS:
            return name
        else:
            known = ", ".join(SCORE_ACTIVATIONS)
            raise InvalidFileError(
                f"{path}: the activation '{value}' is not supported; known are {known}"
            )
    return "sigmoid"


def _read_layer(
    path: Path, tensors: Tensors, name: str, shape: tuple[int, int], activation: str
) -> DenseModule:
    weight, bias = tensors[f"{name}.weight"], tensors.get(f"{name}.bias")
    if bias is None or weight.shape != shape or bias.shape != shape[:1]:
        raise InvalidFileError(
            f"{path}: the shape of '{name}' is {weight.shape}, but its config.json requires"
            f" {shape} and a bias"
        )
    if not (is_finite(weight) and is_finite(bias)):
        raise InvalidFileError(
            f"{path}: '{name}' contains NaN or infinity: download the model again"
        )
    return DenseModule(weight.astype(np.float32), bias.astype(np.float32), activation)
