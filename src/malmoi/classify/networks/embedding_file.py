"""The tensors of a network on embeddings in a file.

`unit_bytes` u8 and `unit_offsets` i64 are the units, most frequent first; the weights of a layer
are f32 under `weight ` and their name. The metadata hold the sizes and the units as JSON.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from malmoi.classify.base.trained_classifier import CommonFields
from malmoi.classify.networks.network_classifier import NetworkClassifier
from malmoi.classify.networks.settings import NetworkKind, NetworkShape, UnitKind
from malmoi.classify.networks.units import EmbeddingUnits
from malmoi.errors import InvalidArgumentError
from malmoi.files.tensors import Tensors, check_tensors
from malmoi.keys import Keys
from malmoi.text.tokenizers import describe, tokenizer_from

PREFIX = "weight "  # before the name of a layer's weights


def embedding_tensors(
    classifier: NetworkClassifier,
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
    """The tensors and metadata of its own."""
    units = classifier.units
    tensors = {PREFIX + name: weight for name, weight in classifier.weights.items()}
    tensors |= {"unit_bytes": units.keys.packed, "unit_offsets": units.keys.offsets}
    tokenizer = None if units.tokenizer is None else describe(units.tokenizer)
    own = {
        "kind": units.kind,
        "max_length": units.max_length,
        "max_n": units.max_n,
        "tokenizer": tokenizer,
    }
    return tensors, {
        "network": json.dumps(asdict(classifier.shape)),
        "units": json.dumps(own, ensure_ascii=False),
    }


def read_embedding(
    tensors: Tensors, metadata: Mapping[str, str], common: CommonFields
) -> NetworkClassifier:
    """A network from its tensors; torch must be there."""
    shape = NetworkShape(**json.loads(metadata["network"]))
    own = json.loads(metadata["units"])
    if shape.network not in get_args(NetworkKind) or own["kind"] not in get_args(UnitKind):
        raise InvalidArgumentError(f"it is a {shape.network} on {own['kind']}")
    check_tensors(tensors, 1, unit_bytes="u1", unit_offsets="<i8")
    tokenizer = None if own["tokenizer"] is None else tokenizer_from(own["tokenizer"])
    keys = Keys(tensors["unit_bytes"], tensors["unit_offsets"])
    units = EmbeddingUnits(own["kind"], int(own["max_length"]), int(own["max_n"]), tokenizer, keys)
    weights = {
        name.removeprefix(PREFIX): weight
        for name, weight in tensors.items()
        if name.startswith(PREFIX)
    }
    for name, weight in weights.items():
        if weight.dtype != np.float32 or not np.isfinite(weight).all():
            raise InvalidArgumentError(f"its weights {name} are not all numbers")
    classifier = NetworkClassifier(units=units, shape=shape, weights=weights, **common._asdict())
    _ = classifier.network  # checks that the weights fit
    return classifier
