"""The interface that all encoders share."""

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Literal, Protocol, runtime_checkable

from malmoi.arguments import described, is_encoder
from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.vectors import Vectors

Precision = Literal["float32", "quantized"]
Arithmetic = Literal["float32", "int16", "int8"]  # the type of the numbers that are multiplied


class Encoder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """The name or path that the encoder was loaded by."""

    @property
    def dim(self) -> int:
        """The dimension of a text's vector."""

    def encode(
        self, texts: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Float32Array:
        """One vector per text, [texts, dim]."""

    def stream(
        self, texts: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Iterator[Float32Array]:
        """The same in chunks [some texts, dim], each as soon as it is ready, in order."""


@runtime_checkable
class PassageSplitter(Protocol):
    """An encoder with a maximum text length that can split longer texts."""

    def passages(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """For each text, the start and end of passages that the model reads whole."""


def expect_encoder(value: object, name: str = "encoder") -> None:
    """Raise `InvalidArgumentError` unless a value is an encoder; its message has a hint."""
    if is_encoder(value):
        return
    hint = "load one with load_encoder('minilm')"
    if isinstance(value, Vectors):
        hint = "average_encoder(vectors) makes an encoder of them"
    elif isinstance(value, str | PathLike):
        hint = f"load it with load_encoder({str(value)!r})"
    raise InvalidArgumentError(f"{name} must be an encoder, not {described(value)}; {hint}")
