"""Weights out of a pickle of PyTorch, and nothing else: what else is in it is never run."""

import warnings
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from malmoi.errors import InvalidFileError
from malmoi.extras import require
from malmoi.files.tensors import Tensors

BROKEN = (UnpicklingError, RuntimeError, EOFError, ValueError, KeyError, IndexError, TypeError,
          AttributeError, OSError)  # fmt: skip


def read_pickled(path: Path) -> Tensors:
    """Every tensor of a `pytorch_model.bin`; BF16 becomes float32, for NumPy has no such thing.

    Torch's own weights-only reader knows tensors and containers alone: a file that asks for
    anything else, such as a function to call, is refused before anything has happened.
    """
    torch = require("torch", extra="train")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of kinds of pickles, which say nothing to the user
            held = torch.load(path, map_location="cpu", weights_only=True)
    except BROKEN as error:
        raise InvalidFileError(
            f"{path} was not opened: it is damaged, or holds more than weights, which might be a"
            f" program ({_first_line(error)})"
        ) from error
    if not isinstance(held, dict) or not held:
        raise InvalidFileError(f"{path} holds no weights by name")
    for name, tensor in held.items():
        if not isinstance(name, str) or not isinstance(tensor, torch.Tensor):
            raise InvalidFileError(
                f"{path} holds '{name}', which is no weight: save its state_dict alone"
            )
    return {name: _array(torch, tensor) for name, tensor in held.items()}


def _array(torch: Any, tensor: Any) -> Any:
    whole = tensor.detach().to_dense() if tensor.is_sparse else tensor.detach()
    return (whole.float() if whole.dtype == torch.bfloat16 else whole).contiguous().numpy()


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:120] if lines else type(error).__name__
