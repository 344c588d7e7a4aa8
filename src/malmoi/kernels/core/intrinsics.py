"""`llvm_intrinsic`: makes a kernel function of one that emits LLVM instructions."""

import inspect
from collections.abc import Callable
from typing import Any, cast

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from malmoi.kernels.core.llvm import I64, Array, Emitter


def llvm_intrinsic(result: Any = types.void) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the function emits the instructions of a kernel function.

    It takes an `Emitter` and the arguments of the call: an `Array` for each array, LLVM values for
    numbers. It returns an LLVM value of the Numba type `result`.
    """

    def decorate(write: Callable[..., Any]) -> Callable[..., Any]:
        def typed(typing: Any, *arguments: Any) -> tuple[Any, Callable[..., Any]]:
            kinds = [types.int64 if isinstance(kind, types.Integer) else kind for kind in arguments]

            def generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
                pairs = zip(kinds, values, strict=True)
                unpacked = (unpack_argument(target, builder, *pair) for pair in pairs)
                value = write(Emitter(builder), *unpacked)
                return target.get_dummy_value() if result == types.void else value

            return result(*kinds), generate

        names = ["typing", *list(inspect.signature(write).parameters)[1:]]
        parameters = [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names
        ]
        typed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        typed.__name__ = write.__name__
        return cast(Callable[..., Any], intrinsic(typed))

    return decorate


def unpack_argument(target: Any, builder: Any, kind: Any, value: Any) -> Any:
    """An argument of the call as the emitting function gets it."""
    if not isinstance(kind, types.Array):
        return value
    array = make_array(kind)(target, builder, value)
    shape, strides = (cgutils.unpack_tuple(builder, each) for each in (array.shape, array.strides))
    return Array(builder.ptrtoint(array.data, I64), shape, strides)
