"""An index on disk: a folder of segments that never change, and a manifest that names them.

    manifest.json          the state: which segments, which of their rows are dead, the model
    segment-7.malmoi       texts, vectors, words, fields
    clusters-7.faiss       the faiss index, if the rows are clustered
    lock                   held by the writer

A commit writes new files first and then replaces the manifest atomically, so that a killed writer
leaves the last state intact, and open readers keep the state that they have read. The next commit
removes files that the manifest does not name.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.checksums import file_checksum
from malmoi.files.lock import folder_lock
from malmoi.files.output import open_output
from malmoi.files.source import InputFile, check_name
from malmoi.files.tensor_file import NO_CHECKSUMS, verify_file
from malmoi.search.storage.clusters import write_clusters
from malmoi.search.storage.manifest import (
    INDEX_FILE,
    INVALID,
    MAX_NUMBER,
    VERSION,
    file_names,
    manifest_of,
    state_of,
    verify_checksum,
    with_checksum,
)
from malmoi.search.storage.segment import open_segment, write_segment
from malmoi.search.storage.state import State

MANIFEST = "manifest.json"
READ_ATTEMPTS = 5  # a writer may remove a segment after the manifest was read


@dataclass(frozen=True)
class Folder:
    """The folder of an index."""

    path: Path

    def __post_init__(self) -> None:
        check_name(self.path)

    @property
    def exists(self) -> bool:
        """Whether the folder holds an index."""
        return is_index(self.path)

    def read(self) -> State:
        """Read the last state."""
        for _ in range(READ_ATTEMPTS - 1):
            manifest = self._manifest()
            try:
                return self._state(manifest)
            except InvalidFileError:
                if self._manifest() == manifest:
                    raise
        return self._state(self._manifest())

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the write lock; create the folder if it does not exist."""
        if self.path.is_file():
            raise InvalidFileError(f"{self.path} is a file: an index is a folder")
        if self.path.is_dir() and not self.exists and any(_foreign(self.path)):
            raise InvalidFileError(
                f"{self.path} is a folder with other files: name a new one for an index"
            )
        try:
            self.path.mkdir(exist_ok=True)
        except OSError as error:
            raise InvalidFileError(
                f"{self.path} cannot be created: {error.strerror or error}"
            ) from error
        with folder_lock(self.path):
            yield

    def commit(self, state: State) -> State:
        """Write a state and return it as it is on disk; the caller holds the write lock."""
        number = self._next_number()
        segments = []
        for segment in state.segments:
            if not segment.name:
                path = self.path / f"segment-{number}.malmoi"
                write_segment(segment, path)
                segment, number = open_segment(path), number + 1
            segments.append(segment)
        clusters = state.clusters
        if clusters and not clusters.path:
            clusters = write_clusters(clusters, self.path / f"clusters-{number}.faiss")
            number += 1
        state = replace(state, segments=tuple(segments), clusters=clusters)
        manifest = with_checksum(manifest_of(state) | {"next": number})
        with open_output(self.path / MANIFEST) as (file,):
            file.write(json.dumps(manifest, ensure_ascii=False, indent=1).encode() + b"\n")
        self._remove_unnamed({*file_names(manifest)})
        return state

    def verify(self) -> str:
        """Verify the checksums of all files of the last state; return a summary."""
        state = self.read()
        checksums = {verify_file(InputFile(self.path / segment.name)) for segment in state.segments}
        clusters = state.clusters
        if clusters and clusters.path and clusters.checksum is None:
            checksums.add(NO_CHECKSUMS)
        elif clusters and clusters.path and file_checksum(clusters.path) != clusters.checksum:
            raise InvalidFileError(f"{clusters.path} is damaged: build the index anew")
        return NO_CHECKSUMS if NO_CHECKSUMS in checksums else "CRC-32, all files verified"

    def _next_number(self) -> int:
        """A file number that was never used."""
        held = [
            int(it[2]) for path in self.path.iterdir() if (it := INDEX_FILE.fullmatch(path.name))
        ]
        return max([0, *held, self._manifest()["next"] - 1 if self.exists else 0]) + 1

    def _remove_unnamed(self, named: set[str]) -> None:
        """Remove files that the manifest does not name."""
        for path in self.path.iterdir():
            if INDEX_FILE.fullmatch(path.name) and path.name not in named:
                path.unlink(missing_ok=True)

    def _manifest(self) -> dict[str, Any]:
        path = self.path / MANIFEST
        if not path.is_file():
            what = (
                f"is not an index: it has no {MANIFEST}" if self.path.exists() else "does not exist"
            )
            raise InvalidFileError(f"{self.path} {what}")
        try:
            read: dict[str, Any] = json.loads(path.read_bytes())
            if (version := read["malmoi index"]) != VERSION:
                raise InvalidFileError(
                    f"{path} is of version {version}; this malmoi reads {VERSION}"
                )
            manifest = verify_checksum(read)
            file_names(manifest)
            if type(manifest["next"]) is not int or not 0 <= manifest["next"] <= MAX_NUMBER:
                raise InvalidArgumentError(
                    f"the next file would have the number {manifest['next']!r}"
                )
        except OSError as error:
            raise InvalidFileError(f"{path} cannot be read: {error.strerror or error}") from error
        except INVALID as error:
            why = (
                str(error)
                if isinstance(error, InvalidArgumentError)
                else "it is not the manifest of an index"
            )
            raise InvalidFileError(f"{path} is damaged: {why}") from error
        return manifest

    def _state(self, manifest: dict[str, Any]) -> State:
        """The state that a manifest describes."""
        if missing := [name for name in file_names(manifest) if not (self.path / name).is_file()]:
            raise InvalidFileError(
                f"{self.path} is incomplete, {missing[0]} is missing: build it anew"
            )
        segments = tuple(open_segment(self.path / entry["file"]) for entry in manifest["segments"])
        try:
            return state_of(manifest, segments, self.path)
        except INVALID as error:
            raise InvalidFileError(f"{self.path / MANIFEST} is damaged ({error})") from error


def is_index(path: Path) -> bool:
    """Whether the folder holds an index."""
    return (path / MANIFEST).is_file()


def _foreign(path: Path) -> Iterator[Path]:
    """Files that a killed writer would not have left."""
    ours = re.compile(rf"{INDEX_FILE.pattern}|lock|\..*\.part")
    return (each for each in path.iterdir() if not ours.fullmatch(each.name))
