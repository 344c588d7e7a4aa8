"""A model's config.json: how large it is, and of which family.

Families differ in names and details; whatever else follows is told by the values here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from malmoi.encode.runtime.relative_positions import BUCKETS
from malmoi.errors import InvalidFileError
from malmoi.files.source import InputFile

FAMILIES = ("bert", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta", "camembert")
OFFSET = ("roberta", "xlm-roberta", "camembert")  # the padding's id is its position; others follow
MPNET_PADDING = 1  # whatever its config.json says
UNSEGMENTED = ("distilbert", "mpnet")  # take no notice of which text of a pair it is
GELU = {"gelu": "exact", "gelu_new": "tanh", "gelu_pytorch_tanh": "tanh", "gelu_fast": "tanh"}
DISTILBERT = {
    "hidden_size": "dim",
    "num_attention_heads": "n_heads",
    "num_hidden_layers": "n_layers",
    "intermediate_size": "hidden_dim",
    "hidden_act": "activation",
}


@dataclass(frozen=True, kw_only=True)
class Config:
    """The sizes of a model, and which GELU it has.

    `embedding` is the width of the tables, which ELECTRA has smaller than `dim`; `positions`
    is the longest text; `skipped` rows of the position table belong to none; pieces that are
    `padding`, where it is not -1, have the first row after these and are not counted, even in
    the midst of a text; `buckets` are of distances between pieces, which MPNet alone has.
    """

    family: str
    dim: int
    heads: int
    layers: int
    inner: int
    embedding: int
    vocabulary: int
    positions: int
    skipped: int
    padding: int
    segments: int
    buckets: int
    epsilon: float
    gelu: str

    @property
    def places(self) -> int:
        """How many rows of the position table are used."""
        return self.positions + (self.padding >= 0)

    @property
    def states(self) -> int:
        """How many hidden states there are: what goes in, and what comes out of each layer."""
        return self.layers + 1


def read_config(folder: Path) -> Config:
    """The config.json of a folder, refused if it is of no family that is known."""
    path = folder / "config.json"
    if not path.exists():
        raise InvalidFileError(f"{folder} has no config.json: it is no folder of a model")
    said = read_json(path)
    family = said.get("model_type")
    if family not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise InvalidFileError(f"{path} is of a model of type '{family}', which is none of {known}")
    if family == "distilbert":
        said = said | {ours: said[theirs] for ours, theirs in DISTILBERT.items() if theirs in said}
    if said.get("position_embedding_type", "absolute") != "absolute":
        kind = said["position_embedding_type"]
        raise InvalidFileError(
            f"{path} has positions of type '{kind}': only absolute ones can be read"
        )
    if str(said.get("hidden_act", "gelu")) not in GELU:
        raise InvalidFileError(
            f"{path} has '{said['hidden_act']}' between its layers: GELU alone is known"
        )
    try:
        return _config(family, said)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidFileError(
            f"{path} does not say what a model of type '{family}' must: {error}"
        ) from error


def _config(family: str, said: Mapping[str, Any]) -> Config:
    mpnet = family == "mpnet"
    padding = MPNET_PADDING if mpnet else said.get("pad_token_id", 1) if family in OFFSET else -1
    config = Config(
        family=family,
        dim=int(said["hidden_size"]),
        heads=int(said["num_attention_heads"]),
        layers=int(said["num_hidden_layers"]),
        inner=int(said["intermediate_size"]),
        embedding=int(said.get("embedding_size", said["hidden_size"])),
        vocabulary=int(said["vocab_size"]),
        positions=int(said["max_position_embeddings"]) - (int(padding) + 1),
        skipped=max(int(padding), 0),
        padding=int(padding),
        segments=0 if family in UNSEGMENTED else int(said.get("type_vocab_size", 2)),
        buckets=int(said.get("relative_attention_num_buckets", BUCKETS)) if mpnet else 0,
        epsilon=float(said.get("layer_norm_eps", 1e-12)),
        gelu=GELU[said.get("hidden_act", "gelu")],
    )
    sizes = (config.dim, config.heads, config.layers, config.inner, config.vocabulary)
    if min(*sizes, config.positions) < 1:
        raise ValueError("hidden_size, heads, layers, vocab_size and positions must be at least 1")
    if config.dim % config.heads:
        raise ValueError(f"hidden_size {config.dim} is not a multiple of {config.heads} heads")
    if config.buckets not in (0, BUCKETS):
        raise ValueError(f"{config.buckets} buckets of distances where {BUCKETS} are known")
    return config


def read_json(path: Path) -> dict[str, Any]:
    """An object that stands in a file."""
    said = read_any_json(path)
    if not isinstance(said, dict):
        raise InvalidFileError(f"{path} holds no JSON object")
    return said


def read_any_json(path: Path) -> Any:
    """What stands in a file of JSON."""
    source = InputFile(path)
    try:
        return json.loads(bytes(source.mapped))
    except (ValueError, RecursionError) as error:
        raise InvalidFileError(f"{path} is not JSON: {error}") from error
