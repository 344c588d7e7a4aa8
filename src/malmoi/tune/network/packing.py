"""Packs the token ids of texts end to end, and maps them to a padded grid for attention alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from malmoi.arrays import Int32Array, Int64Array
from malmoi.encode.checkpoint.config import Config


@dataclass(frozen=True, eq=False)
class PackedTexts:
    """The tokens of several texts without padding.

    `owners` is the text of each token and `slots` its place in a grid [texts · longest] that is
    padded; `slots` and `mask` are None where all texts are equally long.
    """

    ids: Tensor  # [tokens]
    position_ids: Tensor  # [tokens], rows of the position embeddings
    owners: Tensor  # [tokens]
    lengths: Tensor  # [texts]
    longest: int
    slots: Tensor | None  # [tokens]
    mask: Tensor | None  # [texts, 1, 1, longest]: 0, or -inf for padding

    def to_grid(self, rows: Tensor) -> Tensor:
        """Pad rows [tokens, width] to [texts, longest, width]."""
        if self.slots is not None:
            grid = rows.new_zeros(len(self.lengths) * self.longest, rows.shape[1])
            rows = grid.index_copy(0, self.slots, rows)
        return rows.view(len(self.lengths), self.longest, -1)

    def from_grid(self, grid: Tensor) -> Tensor:
        """The rows [tokens, width] of a grid [texts, longest, width]."""
        rows = grid.reshape(len(self.lengths) * self.longest, -1)
        return rows if self.slots is None else rows.index_select(0, self.slots)


def pack(texts: Sequence[Int32Array], config: Config) -> PackedTexts:
    """Pack the token ids of texts, none of which is empty."""
    sizes = np.array([len(text) for text in texts], np.int64)
    longest = int(sizes.max())
    owners = np.repeat(np.arange(len(texts)), sizes)
    starts = np.cumsum(sizes) - sizes
    positions = np.arange(len(owners)) - starts[owners]
    ids = np.concatenate(texts).astype(np.int64)
    is_padded = bool((sizes != longest).any())
    slots, mask = None, None
    if is_padded:
        slots = torch.from_numpy(owners * longest + positions)
        is_token = torch.from_numpy(np.arange(longest) < sizes[:, np.newaxis])
        mask = torch.zeros(is_token.shape).masked_fill_(~is_token, -torch.inf)
        mask = mask[:, None, None, :]
    return PackedTexts(
        ids=torch.from_numpy(ids),
        position_ids=torch.from_numpy(_position_ids(ids, positions, starts[owners], config)),
        owners=torch.from_numpy(owners),
        lengths=torch.from_numpy(sizes),
        longest=longest,
        slots=slots,
        mask=mask,
    )


def _position_ids(
    ids: Int64Array, positions: Int64Array, starts: Int64Array, config: Config
) -> Int64Array:
    """RoBERTa and MPNet count from pad_token_id + 1, and do not count padding inside a text."""
    if config.pad_token_id < 0:
        return positions
    counted = ids != config.pad_token_id
    before = np.concatenate([[0], np.cumsum(counted)])
    numbers = before[1:] - before[starts]
    shifted: Int64Array = np.where(counted, numbers, 0) + config.pad_token_id
    return shifted
