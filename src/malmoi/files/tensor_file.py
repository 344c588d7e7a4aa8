"""Tensor files with a kind and a version: the one reader and writer of all our own files.

Vectors, encoded corpora, co-occurrences, language models, checkpoints and index segments are
safetensors files. Their metadata name the `kind` and, as `malmoi`, the version of its layout.
Files of earlier releases that name them in another way are read too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from malmoi.errors import InvalidFileError
from malmoi.files.source import InputFile
from malmoi.files.tensors import TensorFile, Tensors, open_safetensors, write_safetensors

VERSION_KEY, KIND_KEY = "malmoi", "kind"
NO_CHECKSUMS = "none: written by an earlier release, or by another program"


@dataclass(frozen=True)
class FileKind:
    """A kind of file: its name, a description, and the version of its layout that is read."""

    name: str
    title: str  # "an n-gram model"
    version: str = "1"
    former: tuple[tuple[str, str], ...] | None = None  # the metadata of earlier releases

    def fits(self, metadata: Mapping[str, str]) -> bool:
        """Whether metadata are those of this kind and version."""
        if (metadata.get(KIND_KEY), metadata.get(VERSION_KEY)) == (self.name, self.version):
            return True
        has_former = self.former is not None and KIND_KEY not in metadata
        return has_former and all(metadata.get(key) == value for key, value in self.former or ())


def write_tensor_file(
    path: Path,
    kind: FileKind,
    tensors: Mapping[str, npt.NDArray[Any] | None],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write arrays and metadata as a file of this kind, atomically."""
    own = {VERSION_KEY: kind.version, KIND_KEY: kind.name}
    write_safetensors(path, tensors, {**(metadata or {}), **own})


def open_tensor_file(source: InputFile, kind: FileKind) -> TensorFile:
    """Open a file of this kind, whose arrays are not verified yet."""
    file = open_safetensors(source)
    metadata = file.metadata
    if kind.fits(metadata):
        return file
    if metadata.get(KIND_KEY, kind.name) == kind.name and VERSION_KEY in metadata:
        raise InvalidFileError(
            f"{source.path} is of version {metadata[VERSION_KEY]}; this malmoi reads {kind.version}"
        )
    raise InvalidFileError(
        f"{source.path} is not {kind.title} but {describe_kind(metadata)}: name another file"
    )


def read_tensor_file(source: InputFile, kind: FileKind) -> tuple[Tensors, dict[str, str]]:
    """Read a file of this kind: its verified arrays and its metadata."""
    file = open_tensor_file(source, kind)
    return file.arrays(), file.metadata


def verify_file(source: InputFile) -> str:
    """Verify all of a tensor file; returns what to print about its checksums."""
    file = open_safetensors(source)
    file.arrays()
    if file.blocks is None:
        return NO_CHECKSUMS
    return f"CRC-32, all {len(file.blocks):,} blocks verified"


def describe_tensor_file(source: InputFile) -> dict[str, str]:
    """Describe any tensor file, and verify all of it."""
    file = open_safetensors(source)
    shapes = [f"{name} {list(array.shape)}" for name, array in sorted(file.unverified().items())]
    return {
        "format": f"malmoi, {describe_kind(file.metadata)}",
        "version": file.metadata.get(VERSION_KEY, "unknown"),
        "tensors": ", ".join(shapes),
        "size": f"{source.size:,} bytes",
        "checksums": verify_file(source),
    }


def describe_kind(metadata: Mapping[str, str]) -> str:
    """The kind that metadata name, for a message."""
    return f"of the kind '{metadata[KIND_KEY]}'" if KIND_KEY in metadata else "of an unknown kind"
