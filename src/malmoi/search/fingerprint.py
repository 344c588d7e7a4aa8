"""Fingerprint of an encoder: a probe text and its vector show whether an index fits the encoder."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from malmoi.arguments import expect
from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.locate import (
    PACKAGES,
    UNIVERSAL,
    split_parts,
    split_precision,
)
from malmoi.encode.pipeline.prompts import Prompts, own_prompts, with_prompt
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import SilentReporter
from malmoi.search.analyser import best_analyser
from malmoi.search.storage.state import EncoderFingerprint, State
from malmoi.vectors import l2_normalize

MAX_PROBE_CHARS = 60  # characters of the probe text
MIN_SAME_COSINE = 0.999  # of the probe's vectors; other processors round differently


def model_name(encoder: Encoder) -> str:
    """The name to load the encoder by, with absolute paths where it has any."""
    names = [_absolute(name) for name in part_names(encoder)]
    is_clear = len(names) == 1 or not any("+" in name for name in names)
    return "+".join(names) if is_clear else encoder.name


def part_names(encoder: Encoder) -> list[str]:
    """The names of the encoders that an encoder consists of; it may also be called C++."""
    return split_parts(encoder.name) if all(encoder.name.split("+")) else [encoder.name]


def _absolute(name: str) -> str:
    path, _ = split_precision(name)
    if path in (UNIVERSAL, *PACKAGES) or not Path(path).exists():
        return name
    return f"{Path(path).resolve()}{name.removeprefix(path)}"


def document_encoder(encoder: Encoder, state: State) -> Encoder:
    """The encoder with the document prompt of an index."""
    return encoder if state.prompts is None else with_prompt(encoder, state.prompts.document)


def query_encoder(encoder: Encoder, state: State) -> Encoder:
    """The encoder with the query prompt of an index."""
    return encoder if state.prompts is None else with_prompt(encoder, state.prompts.query)


def new_state(encoder: Encoder, *, passages: bool, prompts: Prompts | None) -> State:
    """The state of a new, empty index for an encoder."""
    expect(prompts, Prompts | None, "prompts", "Prompts", hint="write Prompts(document=…, query=…)")
    state = State(
        best_analyser(),
        encoder.dim,
        model_name(encoder),
        prompts=own_prompts(encoder) if prompts is None else prompts,
        passages=passages,
    )
    document_encoder(encoder, state), query_encoder(encoder, state)  # raises for invalid prompts
    return state


def take_fingerprint(encoder: Encoder, texts: Sequence[str]) -> EncoderFingerprint | None:
    """The fingerprint from the first text with a nonzero vector; None if there is none."""
    for text in texts:
        short = text[:MAX_PROBE_CHARS]
        # The text is embedded, and reported, with all others later.
        vector: Float32Array = encoder.encode([short], reporter=SilentReporter())[0]
        if np.any(vector):
            return EncoderFingerprint(short, vector)
    return None


def check_encoder(encoder: Encoder, state: State) -> None:
    """Raise `InvalidArgumentError` if an encoder's vectors differ from those of the index."""
    encoder = document_encoder(encoder, state)
    what = f"'{encoder.name}' is not the model of this index, which is '{state.model}'"
    if encoder.dim != state.dim:
        raise InvalidArgumentError(
            f"{what}: its vectors have {encoder.dim} dimensions, not {state.dim}"
        )
    if state.probe is None:
        return
    if not has_fingerprint(encoder, state.probe):
        raise InvalidArgumentError(f"{what}: it encodes the same text as another vector")


def check_settings(state: State, passages: bool | None, prompts: Prompts | None) -> None:
    """Raise if these settings would give other vectors than those of the index."""
    if passages is not None and passages != state.passages:
        which = "with" if state.passages else "without"
        raise InvalidArgumentError(
            f"the index was built {which} passages: build a new index to change that"
        )
    if prompts is not None and prompts != state.prompts:
        raise InvalidArgumentError(
            f"the index has {state.prompts}: build a new index for other prompts"
        )


def is_same_model(one: State, two: State) -> bool:
    """Whether the vectors of two states of an index are of the same encoder."""
    if one.probe is None or two.probe is None:  # one of them is empty
        return one.dim == two.dim and one.model == two.model
    return one.dim == two.dim and bool(
        one.probe.text == two.probe.text and np.array_equal(one.probe.vector, two.probe.vector)
    )


def expect_same_model(now: State, opened: State) -> None:
    """Raise `InvalidArgumentError` if an index has changed its model since it was opened."""
    if not is_same_model(now, opened):
        raise InvalidArgumentError(
            f"the index has changed its model to '{now.model}' since it was opened: open it again"
        )


def has_fingerprint(encoder: Encoder, probe: EncoderFingerprint) -> bool:
    """Whether an encoder encodes the probe text as the same vector, but for rounding."""
    again = l2_normalize(encoder.encode([probe.text], reporter=SilentReporter())[0])
    return float(again @ l2_normalize(probe.vector)) >= MIN_SAME_COSINE
