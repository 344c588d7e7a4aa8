"""How what is written for LLVM becomes a verb that kernels can call."""

import inspect
from collections.abc import Callable
from typing import Any, cast

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from malmoi.kernels.core.llvm import INT, Array, Emitter


def emitted(result: Any = types.void) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes a verb for kernels out of a function that writes its instructions.

    The function takes an `Emitter` and what the verb is given: an `Array` for each array, and
    numbers. What it returns is of the kind `result`.
    """

    def verb(write: Callable[..., Any]) -> Callable[..., Any]:
        def typed(typing: Any, *given: Any) -> tuple[Any, Callable[..., Any]]:
            kinds = [types.int64 if isinstance(kind, types.Integer) else kind for kind in given]

            def generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
                pairs = zip(kinds, values, strict=True)
                made = write(Emitter(builder), *(taken(target, builder, *pair) for pair in pairs))
                return target.get_dummy_value() if result == types.void else made

            return result(*kinds), generate

        names = ["typing", *list(inspect.signature(write).parameters)[1:]]
        parts = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        typed.__signature__ = inspect.Signature(parts)  # type: ignore[attr-defined]
        typed.__name__ = write.__name__
        return cast(Callable[..., Any], intrinsic(typed))

    return verb


def taken(target: Any, builder: Any, kind: Any, value: Any) -> Any:
    """What is given to a verb, as its writer gets it."""
    if not isinstance(kind, types.Array):
        return value
    array = make_array(kind)(target, builder, value)
    shape, strides = (cgutils.unpack_tuple(builder, each) for each in (array.shape, array.strides))
    return Array(builder.ptrtoint(array.data, INT), shape, strides)
