"""Imports of optional packages; the error names the extra that installs them."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from malmoi.errors import MissingDependencyError


def require(module: str, *, extra: str) -> ModuleType:
    """Import `module`, or raise `MissingDependencyError` with the `pip install` for `extra`."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        raise MissingDependencyError(
            f"this needs the package '{module.split('.')[0]}', which is not installed: "
            f"pip install 'malmoi[{extra}]'"
        ) from missing


@contextmanager
def required(package: str) -> Iterator[None]:
    """Around the imports of a module that needs `package`: if missing, the error installs it.

    For adapters to a framework, which their users have installed themselves.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        module = (missing.name or package).partition(".")[0]
        raise MissingDependencyError(
            f"this needs the package '{module}', which is not installed: pip install {package}"
        ) from missing
