"""Machine code of kernels on disk: one file per kernel, signature, processor and source.

Numba's own cache raises where it cannot write and where a file is damaged, two processes that
save at once can spoil its index, and it overlooks changes in kernels inlined from other files.
This one looks for code next to the kernel's source, then in the user's cache folder, and saves
to the first of these that can be written. If none can, each process compiles its kernels and
`cache_paths.on_write_error` is called once.
"""

import pickle
import sys
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

from malmoi import cache_paths
from malmoi.kernels.core.code_files import (
    code_folders,
    digest_of,
    read_code,
    source_stamp,
    write_code,
)

Kernel = TypeVar("Kernel", bound=Callable[..., object])

SUFFIX = ".kernel"
COMPILERS = (sys.version, numba.__version__, llvmlite.__version__)


class CodeCache(_Cache):  # type: ignore[misc]  # Numba has no types
    """Loads and saves the machine code of one kernel for its Numba dispatcher."""

    def __init__(self, kernel: FunctionType) -> None:
        self._kernel, self._is_enabled = kernel, True
        self._source = Path(kernel.__code__.co_filename)
        self._stamp = source_stamp(self._source)  # now: the file may change before it is compiled
        self._name = f"{self._source.stem}.{kernel.__qualname__}".replace("<", "").replace(">", "")

    @property
    def cache_path(self) -> str | None:
        """The first folder that is searched for code."""
        return next((str(folder) for folder in self._folders()), None)

    def enable(self) -> None:
        """Allow loading and saving."""
        self._is_enabled = True

    def disable(self) -> None:
        """Prevent loading and saving."""
        self._is_enabled = False

    def flush(self) -> None:
        """Delete the code of all signatures."""
        for folder in self._folders():
            self._remove_others(folder, stamp="")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for a signature; None if there is none that is valid."""
        target_context.refresh()  # so that it knows all symbols that the code refers to
        for folder in self._folders():
            name = self._file_name(sig, target_context.codegen())
            try:
                code = read_code(folder / name, self._source)
                result = code and CompileResult._rebuild(target_context, *pickle.loads(code))
            except Exception:  # any damage to the file: compile the kernel again
                continue
            if result and result.signature.args == sigutils.normalize_signature(sig)[0]:
                return result
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save the code for a signature, unless it contains addresses of this process."""
        if data.library.has_dynamic_globals or data.lifted:
            return
        reason = ""
        for folder in self._folders():
            try:
                name = self._file_name(sig, data.codegen)
                write_code(folder / name, dumps(data._reduce()), self._source)
            except OSError as error:
                reason = f"{folder}: {error.strerror or error}"
                continue
            self._remove_others(folder, self._stamp)
            return
        if reason:
            report_unsaved(reason)

    def _folders(self) -> list[Path]:
        return code_folders(self._source, config.CACHE_DIR) if self._is_enabled else []

    def _file_name(self, sig: Any, codegen: Any) -> str:
        cells = [cell.cell_contents for cell in self._kernel.__closure__ or ()]
        key = (sig, codegen.magic_tuple(), COMPILERS, config.BOUNDSCHECK)
        digest = digest_of(repr(key).encode() + self._kernel.__code__.co_code + dumps(cells))
        return f"{self._name}.{self._stamp}.{digest}{SUFFIX}"

    def _remove_others(self, folder: Path, stamp: str) -> None:
        """Delete the code of other versions of the source."""
        for path in folder.glob(f"{self._name}.*{SUFFIX}"):
            if not path.name.startswith(f"{self._name}.{stamp}."):
                path.unlink(missing_ok=True)


def cached(kernel: Kernel) -> Kernel:
    """Make a Numba dispatcher use this cache; a plain function is returned unchanged."""
    if isinstance(kernel, Dispatcher):
        cast(Any, kernel)._cache = CodeCache(kernel.py_func)
    return kernel


@cache
def report_unsaved(reason: str) -> None:
    """Report once per reason that compiled code is not saved."""
    cache_paths.on_write_error(
        f"compiled kernels cannot be cached ({reason}): each process compiles them again, which"
        " takes seconds; set MALMOI_CACHE to a writable folder"
    )
