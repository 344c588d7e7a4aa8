"""Tensor files of a kind: one way to write them, and to refuse those of another kind or version.

The metadata name the `kind` and, as `malmoi`, the version of its layout. Files of earlier
releases that say it in another way are read too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from malmoi.errors import InvalidFileError
from malmoi.files.source import InputFile
from malmoi.files.tensors import TensorFile, Tensors, open_tensor_file, write_tensors

FORMAT, KIND = "malmoi", "kind"
UNCHECKED = "none: written by an earlier release, or by another program"


@dataclass(frozen=True)
class Kind:
    """What a file is for, by name and in words, and which version of its layout is read."""

    name: str
    title: str  # "an n-gram model"
    version: str = "1"
    former: tuple[tuple[str, str], ...] | None = None  # what metadata held in earlier releases

    def fits(self, metadata: Mapping[str, str]) -> bool:
        """Whether metadata are those of this kind and version."""
        if (metadata.get(KIND), metadata.get(FORMAT)) == (self.name, self.version):
            return True
        former = self.former is not None and KIND not in metadata
        return former and all(metadata.get(name) == text for name, text in self.former or ())


def write_tensor_file(
    path: Path,
    kind: Kind,
    tensors: Mapping[str, npt.NDArray[Any] | None],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Arrays and metadata as a file of this kind, which is whole or not there."""
    own = {FORMAT: kind.version, KIND: kind.name}
    write_tensors(path, tensors, {**(metadata or {}), **own})


def find_tensor_file(source: InputFile, kind: Kind) -> TensorFile:
    """A file of this kind, its arrays still to be verified."""
    file = open_tensor_file(source)
    if kind.fits(file.metadata):
        return file
    if file.metadata.get(KIND, kind.name) == kind.name and FORMAT in file.metadata:
        raise InvalidFileError(
            f"{source.path} is of version {file.metadata[FORMAT]}; this malmoi reads {kind.version}"
        )
    raise InvalidFileError(
        f"{source.path} is not {kind.title} but {described(file.metadata)}: name another"
    )


def read_tensor_file(source: InputFile, kind: Kind) -> tuple[Tensors, dict[str, str]]:
    """The arrays of a file of this kind, verified, and its metadata."""
    file = find_tensor_file(source, kind)
    return file.arrays(), file.metadata


def verify_file(source: InputFile) -> str:
    """Verify all of a tensor file; what to say of its checksums."""
    file = open_tensor_file(source)
    file.arrays()
    return UNCHECKED if file.blocks is None else f"CRC-32, all {len(file.blocks):,} blocks verified"


def tensor_facts(source: InputFile) -> dict[str, str]:
    """What there is to know of any tensor file, all of which is verified."""
    file = open_tensor_file(source)
    shapes = [f"{name} {list(array.shape)}" for name, array in sorted(file.unverified().items())]
    return {
        "format": f"malmoi, {described(file.metadata)}",
        "version": file.metadata.get(FORMAT, "unknown"),
        "tensors": ", ".join(shapes),
        "size": f"{source.size:,} bytes",
        "checksums": verify_file(source),
    }


def described(metadata: Mapping[str, str]) -> str:
    """What metadata say that a file is."""
    return f"of the kind '{metadata[KIND]}'" if KIND in metadata else "of an unknown kind"
