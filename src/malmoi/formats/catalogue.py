"""The formats: detected by a file's content when reading, by its name when writing."""

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


class FileReader(Protocol):
    """What each module of a format defines."""

    TITLE: str

    def matches(self, source: InputFile) -> bool:
        """Whether a file is of this format, by its first bytes."""

    def read(self, source: InputFile, request: LoadRequest) -> LoadResult:
        """Read the requested rows."""


class Format(FileReader, Protocol):
    """A format that is written too."""

    def write(self, vectors: Vectors, path: Path, progress: Progress = no_progress) -> None:
        """Write vectors to a file."""


# Tried in this order; formats that need no compiled kernels come first.
MODULES = {
    "malmoi": "malmoi_file",
    "numpy": "numpy_pair",
    "parquet": "parquet",
    "fasttext": "fasttext.fasttext_model",
    "word2vec-binary": "word2vec_binary",
    "word2vec": "text.word2vec_text",
    "glove": "text.glove_text",
    "projector": "text.projector",
}
READ_ONLY = {"gensim": "gensim.gensim_model"}  # formats that are read and not written
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
COMPRESSIBLE = {"word2vec-binary", "word2vec", "glove", "projector", "fasttext"}

PICKLE_ERROR = (
    "is a Python pickle of protocol 0 or 1, of which malmoi reads none: in gensim, call .save(...)"
    " without pickle_protocol, or .save_word2vec_format(...) on the vectors"
)
OWN_FORMAT = "malmoi"
UNSUPPORTED = {
    b"ccopy_reg\n": PICKLE_ERROR,
    b"PK\x03\x04": "is a zip archive: extract it and open the file inside",
    b"\x89HDF": "is an HDF5 file, which malmoi does not read: convert it",
    b"BZh91AY&SY": "is compressed with bzip2: decompress it, or use gzip instead",
    b"\xfd7zXZ": "is compressed with xz: decompress it, or use gzip instead",
}


def get_format(name: str) -> Format:
    """The module of a format by name."""
    if name not in MODULES:
        raise InvalidArgumentError(f"unknown format '{name}': choose one of {', '.join(MODULES)}")
    return cast(Format, import_module(f"malmoi.formats.{MODULES[name]}"))


def get_reader(name: str) -> FileReader:
    """The module that reads a format."""
    module = READ_ONLY.get(name)
    return (
        cast(FileReader, import_module(f"malmoi.formats.{module}")) if module else get_format(name)
    )


def detect_format(source: InputFile) -> str:
    """The name of a file's format, by its content."""
    if not source.head:  # a compressed file may be empty too
        raise InvalidFileError(f"{source.path} is empty")
    if get_format(OWN_FORMAT).matches(source):  # begins with a length, which may look like anything
        return OWN_FORMAT
    for magic, reason in UNSUPPORTED.items():
        if source.head.startswith(magic):
            raise InvalidFileError(f"{source.path} {reason}")
    for name in [*READ_ONLY, *MODULES]:
        if get_reader(name).matches(source):
            return name
    if is_old_pickle(source):
        raise InvalidFileError(f"{source.path} {PICKLE_ERROR}")
    raise InvalidFileError(
        f"{source.path} is in none of the supported formats ({', '.join(MODULES | READ_ONLY)})"
    )


def is_old_pickle(source: InputFile) -> bool:
    """Whether a file looks like a pickle of protocol 0 or 1, which has no magic bytes."""
    if bytes(source.mapped[-1:]) != b".":
        return False
    try:
        return len(list(islice(genops(source.head), 4))) == 4  # only parses, runs nothing
    except Exception:  # whatever it raises, this is not a pickle
        return False


def format_for(path: Path, *, subwords: bool) -> str:
    """The name of the format for vectors with or without subwords, by the file's suffix."""
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if suffix == ".bin":
        return "fasttext" if subwords else "word2vec-binary"
    if suffix not in SUFFIXES:
        raise InvalidArgumentError(
            f"the suffix of '{path.name}' does not select a format: use one of"
            f" {', '.join(SUFFIXES)} or .bin, or name the format"
        )
    return SUFFIXES[suffix]


def check_compression(path: Path, name: str) -> None:
    """Raise `InvalidArgumentError` for a .gz of a format that is memory-mapped."""
    if path.suffix == ".gz" and name not in COMPRESSIBLE:
        raise InvalidArgumentError(
            f"a {name} file is memory-mapped and cannot be compressed: leave out the .gz"
        )
