"""RowAdam: Adam for a table of which a batch uses few rows; all others cost nothing.

Torch's AdamW reads and writes every row in each step, and its SparseAdam corrects the bias of the
moments by the number of all steps: a row that first occurs late would make a step three times too
large. Here each row counts its own steps.
"""

import torch
from torch import Tensor, nn

from malmoi.arrays import BoolArray
from malmoi.files.tensors import Tensors

BETAS = (0.9, 0.999)
EPSILON = 1e-8
STATE = ("row moments", "row squares", "row steps")  # names in a checkpoint


class RowAdam:
    """Updates the rows of a table that have a sparse gradient; `is_trained` can exclude rows."""

    def __init__(self, table: nn.Parameter, is_trained: BoolArray | None = None) -> None:
        self.table = table
        self.is_trained = None if is_trained is None else torch.from_numpy(is_trained)
        self.moments, self.squares = torch.zeros_like(table), torch.zeros_like(table)
        self.steps = torch.zeros(len(table), dtype=torch.int64)

    @torch.no_grad()
    def update(self, learning_rate: float) -> None:
        """One step by the gradient of the table, which is then forgotten."""
        gradient, self.table.grad = self.table.grad, None
        if gradient is None:
            return
        rows, values = _occurring(gradient)
        if self.is_trained is not None:
            chosen = self.is_trained[rows]
            rows, values = rows[chosen], values[chosen]
        steps = self.steps[rows] + 1
        moments = self.moments[rows].lerp_(values, 1 - BETAS[0])
        squares = self.squares[rows].mul_(BETAS[1]).addcmul_(values, values, value=1 - BETAS[1])
        first, second = (1 - beta ** steps[:, None].to(values.dtype) for beta in BETAS)
        change = (moments / first).div_((squares / second).sqrt_().add_(EPSILON))
        self.table.index_add_(0, rows, change, alpha=-learning_rate)
        self.steps[rows], self.moments[rows], self.squares[rows] = steps, moments, squares

    def tensors(self) -> Tensors:
        """The state, for a checkpoint."""
        state = (self.moments, self.squares, self.steps)
        return {name: part.numpy() for name, part in zip(STATE, state, strict=True)}

    def restore(self, tensors: Tensors) -> None:
        """Restore what `tensors` returned."""
        for name, part in zip(STATE, (self.moments, self.squares, self.steps), strict=True):
            part.copy_(torch.from_numpy(tensors[name]))


def _occurring(gradient: Tensor) -> tuple[Tensor, Tensor]:
    """The rows that occur in a batch, and their gradients [rows, dim]."""
    if not gradient.is_sparse:
        rows = gradient.any(dim=1).nonzero().ravel()
        return rows, gradient[rows]
    summed = gradient.coalesce()
    return summed.indices().ravel(), summed.values()
