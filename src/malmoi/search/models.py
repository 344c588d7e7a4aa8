"""Whether an encoder is the one that an index was made with: told by what it makes of a text."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from malmoi.encode.protocol import Encoder
from malmoi.errors import BadSetting
from malmoi.nearest.ranking import unit
from malmoi.search.state import Probe, State
from malmoi.vectors import Matrix

LENGTH = 200  # characters of a text that are enough to know an encoder by
ALIKE = 0.999  # the least cosine: other processors round differently


def model_name(encoder: Encoder) -> str:
    """What it can be loaded by again, wherever that is asked for."""
    path = Path(encoder.name)
    return str(path.resolve()) if path.exists() else encoder.name


def take_probe(encoder: Encoder, texts: Sequence[str]) -> Probe | None:
    """The first text that the encoder has a vector for; None where there is none."""
    for text in texts:
        short = text[:LENGTH]
        vector: Matrix = encoder.encode([short])[0]
        if np.any(vector):
            return Probe(short, vector)
    return None


def check_encoder(encoder: Encoder, state: State) -> None:
    """Refuse an encoder that makes other vectors than those of the index."""
    what = f"'{encoder.name}' is not the model of this index, which is '{state.model}'"
    if encoder.dim != state.dim:
        raise BadSetting(f"{what}: its vectors have {encoder.dim} numbers, not {state.dim}")
    if state.probe is None:
        return
    again = unit(encoder.encode([state.probe.text])[0])
    if float(again @ unit(state.probe.vector)) < ALIKE:
        raise BadSetting(f"{what}: the same text has another vector")
