"""Converts a model folder with pickled weights, or ELMo's HDF5, to safetensors.

A pickle can execute any code, safetensors cannot. All other files that the model needs are copied;
weights in other formats are not.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from glob import escape
from pathlib import Path
from secrets import token_hex

from malmoi.encode.checkpoint.config import read_json
from malmoi.encode.checkpoint.elmo_options import OPTIONS_FILES, is_elmo_folder, read_options
from malmoi.encode.checkpoint.elmo_weights import (
    SAFETENSORS,
    checked_tensors,
    elmo_weights_file,
    open_elmo_tensors,
)
from malmoi.encode.checkpoint.hub import IGNORED_FILES, NEEDED_FILES
from malmoi.encode.checkpoint.weights import FILE, INDEX, PICKLE
from malmoi.errors import InvalidFileError
from malmoi.files.output import is_left_over
from malmoi.files.source import check_name
from malmoi.files.tensors import Tensors, write_safetensors
from malmoi.reporting.reporter import Progress, no_progress

PICKLE_INDEX = f"{PICKLE}.index.json"
METADATA = {"format": "pt"}  # transformers requires it


def convert_model(folder: Path, target: Path, *, progress: Progress = no_progress) -> int:
    """Write `folder` as `target` with safetensors weights; returns the number of tensors.

    The new folder is complete or does not exist: it is written beside `target` and renamed.
    """
    if is_elmo_folder(folder):
        return _convert_elmo(folder, target)
    pickles = find_pickles(folder)
    with folder_beside(target) as part:
        for path in needed_files(folder):
            copy = part / path.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        count = 0
        for done, source in enumerate(pickles, start=1):
            tensors = read_all(source)
            copy = part / source.relative_to(folder)
            copy.mkdir(parents=True, exist_ok=True)
            write_safetensors(copy / FILE, dict(tensors), METADATA)
            count += len(tensors)
            progress(done, len(pickles))
    return count


def _convert_elmo(folder: Path, target: Path) -> int:
    """Write the HDF5 weights of an ELMo model as safetensors."""
    path, config = elmo_weights_file(folder), read_options(folder)
    if path.suffix == ".safetensors":
        raise InvalidFileError(f"{folder} has no HDF5 to convert: its weights are safetensors")
    tensors = checked_tensors(path, open_elmo_tensors(path), config)
    with folder_beside(target) as part:
        for options in folder.glob(OPTIONS_FILES):
            shutil.copyfile(options, part / options.name)
        write_safetensors(part / SAFETENSORS, dict(tensors), METADATA)
    return len(tensors)


def find_pickles(folder: Path) -> list[Path]:
    """The folders, this one or below, that have pickled weights only."""
    if not folder.is_dir():
        raise InvalidFileError(f"{folder} is not a folder")
    pickled = sorted({path.parent for path in folder.rglob(f"{PICKLE}*") if path.is_file()})
    pickled = [path for path in pickled if not is_unneeded(path.relative_to(folder) / PICKLE)]
    left = [path for path in pickled if not any((path / n).is_file() for n in (FILE, INDEX))]
    if not left:
        why = "its weights are safetensors already" if pickled else "it is not a model folder"
        raise InvalidFileError(f"{folder} has no {PICKLE} to convert: {why}")
    return left


def read_all(folder: Path) -> Tensors:
    """The weights of one file, or of all files that an index names."""
    from malmoi.models.pickled import read_pickled

    if (folder / PICKLE).is_file():
        return read_pickled(folder / PICKLE)
    index = folder / PICKLE_INDEX
    files = read_json(index).get("weight_map") if index.is_file() else None
    if not isinstance(files, dict) or any(Path(str(f)).name != f for f in files.values()):
        raise InvalidFileError(f"{folder} has no {PICKLE}, nor an index of its files")
    tensors: Tensors = {}
    for file in sorted(set(files.values())):
        tensors |= read_pickled(folder / file)
    return tensors


def needed_files(folder: Path) -> list[Path]:
    """The files that a model needs beside pickled weights."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    names = {path: path.relative_to(folder) for path in files}
    return [
        path
        for path, name in names.items()
        if any(fnmatch(name.name, pattern) for pattern in NEEDED_FILES)
        and name.name != PICKLE_INDEX
        and not is_unneeded(name)
    ]


def is_unneeded(name: Path) -> bool:
    """Whether a file is for other programs, or hidden."""
    hidden = any(part.startswith(".") for part in name.parts)
    return hidden or any(fnmatch(name.as_posix(), pattern) for pattern in IGNORED_FILES)


@contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """A folder next to `target` to write to; it becomes `target` unless there is an exception.

    What a killed process has left of the same target is removed.
    """
    check_name(target)
    if target.exists():
        raise InvalidFileError(f"{target} exists already: choose another name")
    part = target.with_name(f".{target.name}.{os.getpid()}-{token_hex(8)}.part")
    try:
        part.mkdir()
        yield part
        part.rename(target)
        for other in target.parent.glob(f".{escape(target.name)}.*-*.part"):
            if is_left_over(other):
                shutil.rmtree(other, ignore_errors=True)
    except OSError as error:
        raise InvalidFileError(f"cannot write {target}: {error.strerror or error}") from error
    except InvalidFileError as error:  # of a file in the folder, which has no other name yet
        raise InvalidFileError(str(error).replace(str(part), str(target))) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
