"""Rows times a layer's matrix, plus its bias, and bent if asked for: in floats or in bytes.

Which of the two it is follows from the kind of the weights, when the kernel is compiled.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.extending import overload

from malmoi.kernels.byte_products import Rounded, byte_product, round_rows
from malmoi.kernels.compiled import readily_compiled
from malmoi.kernels.curves import exact_gelu, tanh_gelu
from malmoi.kernels.meeting import Team, share
from malmoi.kernels.products import PANEL, panel_product
from malmoi.kernels.text_rows import Matrix

NOT_BENT, EXACT, TANH = 0, 1, 2


class Dense(NamedTuple):
    """Matrices in panels, one a layer, and their biases."""

    panels: Matrix  # [layers, panels, depth, PANEL]
    biases: Matrix  # [layers, columns]


class ByteDense(NamedTuple):
    """The same in bytes; `columns` has first sums (whole numbers), scales and biases."""

    panels: npt.NDArray[np.int8]  # [layers, panels, depth, PANEL]
    columns: Matrix  # [layers, panels, 3, PANEL]


def multiply(
    rows: Matrix,
    dense: Dense | ByteDense,
    layer: int,
    out: Matrix,
    rounded: Rounded,
    team: Team,
    bend: int,
) -> None:
    """out = bent(rows · matrix + bias), in a thread's share of the columns."""
    raise NotImplementedError("for kernels alone")


def chosen(rows: Any, dense: Any, layer: Any, out: Any, rounded: Any, team: Any, bend: Any) -> Any:
    """By the kind of weights."""
    product = multiply_bytes if dense.instance_class is ByteDense else multiply_floats

    def call(
        rows: Any, dense: Any, layer: Any, out: Any, rounded: Any, team: Any, bend: Any
    ) -> None:
        product(rows, dense, layer, out, rounded, team, bend)

    return call


overload(multiply)(chosen)


@readily_compiled
def multiply_floats(
    rows: Matrix,
    dense: Dense,
    layer: int,
    out: Matrix,
    rounded: Rounded,
    team: Team,
    bend: int,
) -> None:
    """`multiply` in single precision."""
    panels, biases = dense.panels[layer], dense.biases[layer]
    first, last = share(len(panels), team)
    for panel in range(first, last):
        column = panel * PANEL
        panel_product(rows, panels[panel], biases[column:], out[:, column:])
        bend_columns(out, column, bend)


@readily_compiled
def multiply_bytes(
    rows: Matrix,
    dense: ByteDense,
    layer: int,
    out: Matrix,
    rounded: Rounded,
    team: Team,
    bend: int,
) -> None:
    """`multiply` in bytes."""
    panels, columns = dense.panels[layer], dense.columns[layer]
    round_rows(rows, panels.shape[1], rounded)
    whole = rounded.bytes[: len(rows)]
    first, last = share(len(panels), team)
    for panel in range(first, last):
        column = panel * PANEL
        byte_product(whole, rounded.scales, panels[panel], columns[panel], out[:, column:])
        bend_columns(out, column, bend)


@readily_compiled
def bend_columns(out: Matrix, column: int, bend: int) -> None:
    """GELU (Hendrycks and Gimpel 2016) of a panel that was just computed, and so is near."""
    if bend == NOT_BENT:
        return
    for i in range(len(out)):
        row = out[i, column : column + PANEL]
        if bend == EXACT:
            for j in range(PANEL):
                row[j] = exact_gelu(row[j])
        else:
            for j in range(PANEL):
                row[j] = tanh_gelu(row[j])
