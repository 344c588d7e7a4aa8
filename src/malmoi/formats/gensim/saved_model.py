"""SavedModel: the attributes of an object that gensim saved, in its pickle or in files beside it.

gensim writes large arrays beside the file: those of `x.model` to `x.model.vectors.npy`, those of
its attribute `wv` to `x.model.wv.vectors.npy`; with a compressed file they are `.npz`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from malmoi.errors import InvalidFileError
from malmoi.formats.gensim.stored_object import StoredObject, as_array
from malmoi.formats.numpy_pair import PARSE_ERRORS


@dataclass(frozen=True)
class SavedModel:
    """An object of gensim; `path` is its file, followed by its name if it is an inner object."""

    stored: StoredObject
    path: Path

    @property
    def kind(self) -> str:
        """The name of its class."""
        return self.stored.kind.name

    def get(self, *names: str) -> Any:
        """The first of these attributes that is there, or None."""
        attributes = self.stored.attributes()
        return next((attributes[name] for name in names if attributes.get(name) is not None), None)

    def inner(self, name: str) -> "SavedModel | None":
        """An attribute that is an object of gensim too."""
        value = self.get(name)
        if not isinstance(value, StoredObject):
            return None
        return SavedModel(value, self.path.with_name(f"{self.path.name}.{name}"))

    def array(self, *names: str) -> npt.NDArray[Any] | None:
        """The first of these arrays that is there: in the pickle, or in a file beside it."""
        for name in names:
            beside = self.get("__numpys")
            if type(beside) is list and any(type(one) is str and one == name for one in beside):
                return self._beside(name)
            if isinstance(value := self.get(name), StoredObject):
                return as_array(value, name)
        return None

    def matrix(self, *names: str) -> npt.NDArray[Any] | None:
        """The first of these arrays, which must be a matrix of numbers."""
        array = self.array(*names)
        if array is not None and (array.ndim != 2 or array.dtype.kind not in "fiu"):
            raise InvalidFileError(f"its {names[0]} is not a matrix of numbers")
        return array

    def _beside(self, name: str) -> npt.NDArray[Any]:
        path, archive = (
            self.path.with_name(f"{self.path.name}.{name}.{suffix}") for suffix in ("npy", "npz")
        )
        if not path.is_file() and not archive.is_file():
            raise InvalidFileError(f"its array {name} is in {path.name}, which must lie beside it")
        try:
            if archive.is_file():
                with np.load(archive, allow_pickle=False) as arrays:
                    array: npt.NDArray[Any] = arrays["val"]
                    return array
            mapped: npt.NDArray[Any] = np.lib.format.open_memmap(path, mode="r")  # no objects
        except (*PARSE_ERRORS, BadZipFile, KeyError, AttributeError) as error:
            raise InvalidFileError(f"{path.stem} beside it is not an array of numbers") from error
        return mapped.view(np.ndarray)
