"""Which formats there are: told by a file's content when reading, by its name when writing."""

from importlib import import_module
from itertools import islice
from pathlib import Path
from pickletools import genops
from typing import Protocol, cast

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.source import InputFile
from malmoi.formats.reading import LoadRequest, LoadResult
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import Vectors


class Format(Protocol):
    """What every file of this folder that is a format has."""

    TITLE: str

    def matches(self, source: InputFile) -> bool:
        """Whether a file is of this format, by its first bytes."""

    def read(self, source: InputFile, request: LoadRequest) -> LoadResult:
        """The vectors asked for."""

    def write(self, vectors: Vectors, path: Path, progress: Progress = no_progress) -> None:
        """The vectors as a file."""


# Tried in this order; those that need no compiled kernels come first.
MODULES = {
    "malmoi": "malmoi_file",
    "numpy": "numpy_pair",
    "parquet": "parquet",
    "fasttext": "fasttext.fasttext_model",
    "word2vec-binary": "word2vec_binary",
    "word2vec": "text.word2vec_text",
    "glove": "text.glove_text",
    "projector": "projector",
}
SUFFIXES = {
    ".malmoi": "malmoi",
    ".safetensors": "malmoi",
    ".npy": "numpy",
    ".parquet": "parquet",
    ".vec": "word2vec",
    ".w2v": "word2vec",
    ".txt": "glove",
    ".tsv": "projector",
}
STREAMED = {"word2vec-binary", "word2vec", "glove", "projector", "fasttext"}  # may be zipped

PICKLE = (
    "is a Python pickle, which can run any code when it is opened, so malmoi does not:"
    " in gensim, call .save_word2vec_format(...) on the vectors and open that file"
)
OURS = "malmoi"
REFUSED = {
    b"\x80\x02": PICKLE,
    b"\x80\x03": PICKLE,
    b"\x80\x04": PICKLE,
    b"\x80\x05": PICKLE,
    b"ccopy_reg\n": PICKLE,
    b"PK\x03\x04": "is a zip archive: unzip it and open the file inside",
    b"\x89HDF": "is an HDF5 file, which is not known here",
    b"BZh91AY&SY": "is packed with bzip2: unpack it, or pack it with gzip instead",
    b"\xfd7zXZ": "is packed with xz: unpack it, or pack it with gzip instead",
}


def get_format(name: str) -> Format:
    """A format by its name."""
    if name not in MODULES:
        raise InvalidArgumentError(
            f"there is no format '{name}': choose one of {', '.join(MODULES)}"
        )
    return cast(Format, import_module(f"malmoi.formats.{MODULES[name]}"))


def recognise(source: InputFile) -> str:
    """The name of a file's format, by its content."""
    if not source.head:  # zipped
        raise InvalidFileError(f"{source.path} is empty")
    if get_format(OURS).matches(source):  # it begins with a length, which may look like anything
        return OURS
    for start, why in REFUSED.items():
        if source.head.startswith(start):
            raise InvalidFileError(f"{source.path} {why}")
    for name in MODULES:
        if get_format(name).matches(source):
            return name
    if is_old_pickle(source):
        raise InvalidFileError(f"{source.path} {PICKLE}")
    raise InvalidFileError(
        f"{source.path} is in none of the formats known here ({', '.join(MODULES)})"
    )


def is_old_pickle(source: InputFile) -> bool:
    """Whether a file begins and ends as a pickle without a mark does (protocols 0 and 1)."""
    if bytes(source.mapped[-1:]) != b".":
        return False
    try:
        return len(list(islice(genops(source.head), 4))) == 4  # only looks, runs nothing
    except Exception:  # whatever it stumbles over, it is no pickle
        return False


def format_for(path: Path, *, subwords: bool) -> str:
    """The name of the format to write vectors in, with or without subwords, by the file's name."""
    zipped = path.suffix == ".gz"
    suffix = path.with_suffix("").suffix if zipped else path.suffix
    if suffix == ".bin":
        return "fasttext" if subwords else "word2vec-binary"
    if suffix not in SUFFIXES:
        raise InvalidArgumentError(
            f"'{path.name}' does not say which format to write: end it in"
            f" {', '.join(SUFFIXES)} or .bin, or name the format"
        )
    return SUFFIXES[suffix]


def refuse_zipped(path: Path, name: str) -> None:
    """What is opened in place cannot be zipped."""
    if path.suffix == ".gz" and name not in STREAMED:
        raise InvalidArgumentError(
            f"a {name} file is opened in place and cannot be zipped: leave out the .gz"
        )
