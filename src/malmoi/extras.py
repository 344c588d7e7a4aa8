"""Optional packages: import one, or say which extra brings it."""

import importlib
from types import ModuleType

from malmoi.errors import MissingDependencyError


def require(module: str, *, extra: str) -> ModuleType:
    """Import `module`, or tell the user how to install what it comes with."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        raise MissingDependencyError(
            f"this needs the package '{module.split('.')[0]}', which is not installed: "
            f"pip install 'malmoi[{extra}]'"
        ) from missing
