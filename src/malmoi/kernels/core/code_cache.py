"""Machine code of kernels on disk: one file per kernel, signature, processor and source.

Numba's own cache raises where it cannot write and where a file is damaged, two processes that
save at once can spoil its index, and it overlooks changes in kernels inlined from other files.
This one looks for code next to the kernel's source, then in the user's cache folder, and saves
to the first of these that takes it. Where none does, each process compiles: that is said once.
"""

import pickle
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import llvmlite
import numba
from numba.core import config, sigutils
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps

from malmoi.kernels.core.code_files import (
    code_folders,
    digest_of,
    read_code,
    source_stamp,
    write_code,
)

Kernel = TypeVar("Kernel", bound=Callable[..., object])

ENDING = ".kernel"
COMPILERS = (sys.version, numba.__version__, llvmlite.__version__)


class CodeCache(_Cache):  # type: ignore[misc]  # Numba has no types
    """Where a dispatcher of Numba loads and saves the code of one kernel."""

    def __init__(self, kernel: FunctionType) -> None:
        self._kernel, self._is_enabled = kernel, True
        self._source = Path(kernel.__code__.co_filename)
        self._stamp = source_stamp(self._source)  # now: the file may change before it is compiled
        self._name = f"{self._source.stem}.{kernel.__qualname__}".replace("<", "").replace(">", "")

    @property
    def cache_path(self) -> str | None:
        """The folder that code is looked for first."""
        return next((str(folder) for folder in self._folders()), None)

    def enable(self) -> None:
        """Load and save."""
        self._is_enabled = True

    def disable(self) -> None:
        """Neither load nor save."""
        self._is_enabled = False

    def flush(self) -> None:
        """Remove the code of all signatures."""
        for folder in self._folders():
            self._remove_others(folder, stamp="")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for a signature; None if there is none that can be used."""
        target_context.refresh()  # else it may not know what the code refers to
        for folder in self._folders():
            name = self._file_name(sig, target_context.codegen())
            try:
                code = read_code(folder / name, self._source)
                found = code and CompileResult._rebuild(target_context, *pickle.loads(code))
            except Exception:  # whatever is wrong with the file: the kernel is compiled anew
                continue
            if found and found.signature.args == sigutils.normalize_signature(sig)[0]:
                return found
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save the code for a signature, unless it holds addresses of this process."""
        if data.library.has_dynamic_globals or data.lifted:
            return
        wrong = ""
        for folder in self._folders():
            try:
                name = self._file_name(sig, data.codegen)
                write_code(folder / name, dumps(data._reduce()), self._source)
            except OSError as error:
                wrong = f"{folder}: {error.strerror or error}"
                continue
            self._remove_others(folder, self._stamp)
            return
        if wrong:
            note_unsaved(wrong)

    def _folders(self) -> list[Path]:
        return code_folders(self._source, config.CACHE_DIR) if self._is_enabled else []

    def _file_name(self, sig: Any, codegen: Any) -> str:
        cells = [cell.cell_contents for cell in self._kernel.__closure__ or ()]
        made = (sig, codegen.magic_tuple(), COMPILERS, config.BOUNDSCHECK)
        digest = digest_of(repr(made).encode() + self._kernel.__code__.co_code + dumps(cells))
        return f"{self._name}.{self._stamp}.{digest}{ENDING}"

    def _remove_others(self, folder: Path, stamp: str) -> None:
        """Remove the code that other versions of the source have left."""
        for path in folder.glob(f"{self._name}.*{ENDING}"):
            if not path.name.startswith(f"{self._name}.{stamp}."):
                path.unlink(missing_ok=True)


def cached(kernel: Kernel) -> Kernel:
    """Have a dispatcher of Numba use this cache; a plain function stays as it is."""
    if isinstance(kernel, Dispatcher):
        cast(Any, kernel)._cache = CodeCache(kernel.py_func)
    return kernel


@cache
def note_unsaved(wrong: str) -> None:
    """Say that code is lost; not as a MalmoiWarning, which kernels do not know."""
    warnings.warn(
        f"compiled kernels cannot be kept ({wrong}): each process compiles them anew, which takes"
        " seconds; name a folder that can be written in MALMOI_CACHE",
        UserWarning,
        stacklevel=2,
    )
