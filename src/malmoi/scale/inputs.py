"""The shards of an input: which files are read, and which file is written for each.

Knows nothing about what is in the files.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from os import PathLike
from pathlib import Path

from malmoi.arguments import expect
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.output import invalid_file_on_os_error

WILDCARDS = frozenset("*?[")
BLOCK_BYTES = 1 << 20

FilePaths = str | PathLike[str] | Sequence[str | PathLike[str]]


@dataclass(frozen=True)
class Shard:
    """A file of texts, as it is now, and the name of the file of its vectors.

    `modified` is the time of the last change in nanoseconds.
    """

    source: Path
    target: str
    size: int
    modified: int


def find_shards(files: FilePaths) -> list[Shard]:
    """The shards of a file, a folder, a pattern such as `texts/*.parquet`, or several of them.

    Raises:
        InvalidFileError: A file does not exist, or nothing matches a pattern.
        InvalidArgumentError: Two files would be written to one.
    """
    expect(files, str | PathLike | Sequence, "files", "a path, a pattern, or a list of them")
    given = [files] if isinstance(files, str | PathLike) else list(files)
    if not given:
        raise InvalidArgumentError("there are no files: give at least one")
    for each in given:
        expect(each, str | PathLike, "a file", "a path or a pattern")
    shards = [_shard(path, top) for each in given for path, top in _matches(str(each))]
    repeated = [name for name, count in Counter(one.target for one in shards).items() if count > 1]
    if repeated:
        first, second, *_ = (one.source for one in shards if one.target == repeated[0])
        raise InvalidArgumentError(
            f"{first} and {second} would both be written to {repeated[0]}: read them by one"
            " pattern of their common folder, or write to two folders"
        )
    return shards


def is_pattern(name: str) -> bool:
    """Whether a name has wildcards, and is not that of a file."""
    return not WILDCARDS.isdisjoint(name) and not Path(name).exists()


def digest_of(path: Path) -> str:
    """The digest of a file's bytes."""
    digest = blake2b(digest_size=16)
    with invalid_file_on_os_error(path), path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _matches(name: str) -> Iterable[tuple[Path, Path]]:
    """The files of a name, each with the folder that its target's name is relative to."""
    path = Path(name)
    if is_pattern(name):
        top = _fixed_folder(path)
        files = [file for file in sorted(top.glob(str(path.relative_to(top)))) if file.is_file()]
        if not files:
            raise InvalidFileError(f"no file matches {name}")
        return [(file, top) for file in files]
    if not path.exists():
        raise InvalidFileError(f"{path} does not exist")
    if path.is_dir():
        from malmoi.text.corpus import text_files  # imports Numba

        return [(file, path) for file in text_files(path)]
    return [(path, path.parent)]


def _fixed_folder(pattern: Path) -> Path:
    """The folder before the first part of a pattern that has wildcards."""
    parts = list(pattern.parts)
    first = next(i for i, part in enumerate(parts) if not WILDCARDS.isdisjoint(part))
    return Path(*parts[:first])


def _shard(path: Path, top: Path) -> Shard:
    stat = path.stat()
    name = "__".join(path.relative_to(top).parts)
    target = name if path.suffix == ".parquet" else f"{name}.parquet"
    return Shard(path.resolve(), target, stat.st_size, stat.st_mtime_ns)
