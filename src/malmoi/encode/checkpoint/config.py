"""A model's config.json: its sizes and its family.

Families differ in names and details; the rest of the code depends only on the values here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from malmoi.errors import InvalidFileError
from malmoi.files.source import InputFile

FAMILIES = ("bert", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta", "camembert")
OFFSET_FAMILIES = ("roberta", "xlm-roberta", "camembert")  # positions begin after pad_token_id
MPNET_PAD_TOKEN_ID = 1  # for positions, whatever its config.json contains
NO_SEGMENTS = ("distilbert", "mpnet")  # no embeddings of token types
RELATIVE_BUCKETS = 32  # of MPNet's relative position bias
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
    """The sizes of a model, and its kind of GELU.

    `embedding_size` is smaller than `dim` in some ELECTRA models. `positions` is the longest text
    in tokens. The first `skipped_positions` rows of the position embeddings are unused; tokens
    with the id `pad_token_id`, unless it is -1, use the next row and are not counted, even inside
    a text. `relative_buckets` is 0 for all families but MPNet.
    """

    family: str
    dim: int
    heads: int
    layers: int
    ffn_size: int
    embedding_size: int
    vocab_size: int
    positions: int
    skipped_positions: int
    pad_token_id: int
    segments: int
    relative_buckets: int
    epsilon: float
    gelu: str

    @property
    def position_rows(self) -> int:
        """The number of position embeddings that are used."""
        return self.positions + (self.pad_token_id >= 0)

    @property
    def num_states(self) -> int:
        """The number of hidden states: the embeddings, and the output of each layer."""
        return self.layers + 1


def read_config(folder: Path) -> Config:
    """Read the config.json of a model folder.

    Raises:
        InvalidFileError: There is none, or it describes a model that is not supported.
    """
    path = folder / "config.json"
    if not path.exists():
        raise InvalidFileError(f"{folder} has no config.json: it is not a model folder")
    values = read_json(path)
    family = values.get("model_type")
    if family not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise InvalidFileError(f"{path}: model_type '{family}' is not supported; known are {known}")
    if family == "distilbert":
        values = values | {
            ours: values[theirs] for ours, theirs in DISTILBERT.items() if theirs in values
        }
    if values.get("position_embedding_type", "absolute") != "absolute":
        kind = values["position_embedding_type"]
        raise InvalidFileError(
            f"{path}: position_embedding_type '{kind}' is not supported, only absolute"
        )
    if str(values.get("hidden_act", "gelu")) not in GELU:
        raise InvalidFileError(
            f"{path}: hidden_act '{values['hidden_act']}' is not supported, only GELU"
        )
    try:
        return _config(family, values)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidFileError(
            f"{path} is not a valid config of a {family} model: {error}"
        ) from error


def _config(family: str, values: Mapping[str, Any]) -> Config:
    mpnet, offset = family == "mpnet", family in OFFSET_FAMILIES
    pad_token_id = MPNET_PAD_TOKEN_ID if mpnet else values.get("pad_token_id", 1) if offset else -1
    buckets = int(values.get("relative_attention_num_buckets", RELATIVE_BUCKETS)) if mpnet else 0
    config = Config(
        family=family,
        dim=int(values["hidden_size"]),
        heads=int(values["num_attention_heads"]),
        layers=int(values["num_hidden_layers"]),
        ffn_size=int(values["intermediate_size"]),
        embedding_size=int(values.get("embedding_size", values["hidden_size"])),
        vocab_size=int(values["vocab_size"]),
        positions=int(values["max_position_embeddings"]) - (int(pad_token_id) + 1),
        skipped_positions=max(int(pad_token_id), 0),
        pad_token_id=int(pad_token_id),
        segments=0 if family in NO_SEGMENTS else int(values.get("type_vocab_size", 2)),
        relative_buckets=buckets,
        epsilon=float(values.get("layer_norm_eps", 1e-12)),
        gelu=GELU[values.get("hidden_act", "gelu")],
    )
    sizes = (config.dim, config.heads, config.layers, config.ffn_size, config.vocab_size)
    if min(*sizes, config.positions) < 1:
        raise ValueError("hidden_size, heads, layers, vocab_size and positions must be at least 1")
    if config.dim % config.heads:
        raise ValueError(f"hidden_size {config.dim} is not a multiple of {config.heads} heads")
    if config.relative_buckets not in (0, RELATIVE_BUCKETS):
        raise ValueError(f"relative_attention_num_buckets is {buckets}, not {RELATIVE_BUCKETS}")
    return config


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file."""
    value = read_any_json(path)
    if not isinstance(value, dict):
        raise InvalidFileError(f"{path} does not contain a JSON object")
    return value


def read_any_json(path: Path) -> Any:
    """Any JSON value from a file."""
    source = InputFile(path)
    try:
        return json.loads(bytes(source.mapped))
    except (ValueError, RecursionError) as error:
        raise InvalidFileError(f"{path} is not JSON: {error}") from error
