"""What every encoder can do, whatever is behind it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.reporting.reporter import Progress, no_progress

Precision = Literal["float32", "quantized"]
Arithmetic = Literal["float32", "int16", "int8"]  # what a processor multiplies


class Encoder(Protocol):
    """Texts to vectors: `name` says which it is, `dim` how many numbers a vector has."""

    @property
    def name(self) -> str:
        """What it was asked for by."""

    @property
    def dim(self) -> int:
        """How many numbers the vector of a text has."""

    def encode(self, texts: Iterable[str], *, progress: Progress = no_progress) -> Float32Array:
        """A vector a text, [texts, dim]."""

    def stream(self, texts: Iterable[str]) -> Iterator[Float32Array]:
        """The same in chunks [some texts, dim], each as soon as it is ready, in order."""


@runtime_checkable
class PassageSplitter(Protocol):
    """An encoder that reads no text past a certain length, and knows how to split it."""

    def passages(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """For each text, where the passages begin and end that are read whole."""


def encode_stream(encoder: Encoder, texts: Iterable[str], progress: Progress) -> Float32Array:
    """All that an encoder streams, as one matrix."""
    asked = texts if isinstance(texts, Sequence) else list(texts)
    found, done = [np.empty((0, encoder.dim), np.float32)], 0
    for chunk in encoder.stream(asked):
        found.append(chunk)
        done += len(chunk)
        progress(done, len(asked))
    return np.concatenate(found)
