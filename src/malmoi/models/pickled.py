"""Reads the weights of a PyTorch pickle without running any code in it."""

import warnings
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from malmoi.errors import InvalidFileError
from malmoi.extras import require
from malmoi.files.tensors import Tensors

LOAD_ERRORS = (UnpicklingError, RuntimeError, EOFError, ValueError, KeyError, IndexError, TypeError,
          AttributeError, OSError)  # fmt: skip


def read_pickled(path: Path) -> Tensors:
    """Return every tensor of a `pytorch_model.bin`; bfloat16 becomes float32.

    Torch's weights-only reader accepts tensors and containers only. It rejects files with
    anything else, such as a function to call, before it runs anything.

    Raises:
        InvalidFileError: the file is damaged or holds more than weights.
    """
    torch = require("torch", extra="train")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about pickle variants, of no use to the user
            state = torch.load(path, map_location="cpu", weights_only=True)
    except LOAD_ERRORS as error:
        raise InvalidFileError(
            f"{path} was not opened: it is damaged, or holds more than weights, which might run"
            f" code ({_first_line(error)})"
        ) from error
    if not isinstance(state, dict) or not state:
        raise InvalidFileError(f"{path} is not a dictionary of weights")
    for name, tensor in state.items():
        if not isinstance(name, str) or not isinstance(tensor, torch.Tensor):
            raise InvalidFileError(
                f"{path} holds '{name}', which is not a weight: save only its state_dict"
            )
    return {name: _array(torch, tensor) for name, tensor in state.items()}


def _array(torch: Any, tensor: Any) -> Any:
    dense = tensor.detach().to_dense() if tensor.is_sparse else tensor.detach()
    return (dense.float() if dense.dtype == torch.bfloat16 else dense).contiguous().numpy()


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:120] if lines else type(error).__name__
