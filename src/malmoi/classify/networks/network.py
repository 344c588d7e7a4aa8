"""Networks on embeddings, with torch: from rows of units to the scores of labels.

embedding → mean | flatten | cnn | gru | lstm → dropout → linear
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from malmoi.arrays import Int32Array
from malmoi.classify.networks.settings import NetworkKind, NetworkShape
from malmoi.classify.networks.units import PADDING
from malmoi.errors import InvalidArgumentError
from malmoi.files.tensors import Tensors
from malmoi.tune.network.linear import TrainedLinear

WIDTHS = (1, 2, 3)  # of the filters of a CNN


class UnitPooling(nn.Module):
    """Turns the embeddings of a text's units into one vector of `dim` dimensions."""

    dim: int


class MeanPooling(UnitPooling):
    """The mean of the embeddings, then a hidden layer."""

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.layer = nn.Linear(shape.dim, shape.hidden)
        self.dim = shape.hidden

    def forward(self, grid: Tensor, lengths: Tensor) -> Tensor:
        """[texts, longest, dim] to [texts, hidden]; padding is zeros."""
        return functional.relu(self.layer(grid.sum(1) / lengths[:, None]))


class Flatten(UnitPooling):
    """A hidden layer with weights of its own for each position."""

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.layer = nn.Linear(shape.max_length * shape.dim, shape.hidden)
        self.dim = shape.hidden

    def forward(self, grid: Tensor, lengths: Tensor) -> Tensor:
        """[texts, longest, dim] to [texts, hidden]; positions of padding alone cost nothing."""
        rows = grid.flatten(1)
        weight = self.layer.weight[:, : rows.shape[1]]
        return functional.relu(functional.linear(rows, weight, self.layer.bias))


class Convolutions(UnitPooling):
    """Filters of several widths, each with its maximum over all positions (Kim 2014)."""

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.filters = nn.ModuleList(
            TrainedLinear(width * shape.dim, shape.hidden) for width in WIDTHS
        )
        self.dim = len(WIDTHS) * shape.hidden

    def forward(self, grid: Tensor, lengths: Tensor) -> Tensor:
        """[texts, longest, dim] to [texts, widths · hidden].

        After each text there is a window of padding alone, so that its scores do not depend on
        the length of others in a batch.
        """
        texts, longest, dim = grid.shape
        padded = functional.pad(grid, (0, 0, 0, WIDTHS[-1]))
        shifted = [padded[:, first : first + longest + 1] for first in range(WIDTHS[-1])]
        windows = torch.cat(shifted, 2).flatten(0, 1)
        pooled = [
            layer(windows[:, : width * dim]).view(texts, longest + 1, -1).amax(1)
            for width, layer in zip(WIDTHS, self.filters, strict=True)
        ]
        return functional.relu(torch.cat(pooled, 1))


class Recurrent(UnitPooling):
    """A GRU or an LSTM in both directions; the maximum of its states over all positions."""

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        kind = nn.GRU if shape.network == "gru" else nn.LSTM
        self.layer = kind(shape.dim, shape.hidden, batch_first=True, bidirectional=True)
        self.dim = 2 * shape.hidden

    def forward(self, grid: Tensor, lengths: Tensor) -> Tensor:
        """[texts, longest, dim] to [texts, 2 · hidden]."""
        packed = pack_padded_sequence(grid, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(
            self.layer(packed)[0], batch_first=True, padding_value=-torch.inf
        )
        return states.amax(1)


POOLINGS: dict[NetworkKind, type[UnitPooling]] = {
    "mean": MeanPooling,
    "flatten": Flatten,
    "cnn": Convolutions,
    "gru": Recurrent,
    "lstm": Recurrent,
}


class EmbeddingNetwork(nn.Module):
    """Rows of units to scores [texts, outputs]."""

    def __init__(self, shape: NetworkShape, dropout: float = 0.0) -> None:
        super().__init__()
        self.shape, self.dropout = shape, dropout
        self.embedding = nn.Parameter(torch.empty(shape.rows, shape.dim))
        self.pooling = POOLINGS[shape.network](shape)
        self.output = nn.Linear(self.pooling.dim, shape.outputs)

    def forward(self, texts: Sequence[Int32Array]) -> Tensor:
        """The scores of texts that are rows of units, none of them without a unit."""
        ids, lengths = padded_ids(texts)
        rows = functional.embedding(ids, self.embedding, PADDING, sparse=self.training).sum(2)
        rows = functional.dropout(rows, self.dropout, self.training)
        pooled = functional.dropout(self.pooling(rows, lengths), self.dropout, self.training)
        scores: Tensor = self.output(pooled)
        return scores


def padded_ids(texts: Sequence[Int32Array]) -> tuple[Tensor, Tensor]:
    """Rows [texts, longest], filled with padding, and the lengths."""
    lengths = np.array([len(text) for text in texts], np.int64)
    ids = np.full((len(texts), int(lengths.max()), texts[0].shape[1]), PADDING, np.int64)
    ids[np.arange(ids.shape[1]) < lengths[:, np.newaxis]] = np.concatenate(texts)
    return torch.from_numpy(ids), torch.from_numpy(lengths)


def loaded_network(shape: NetworkShape, weights: Tensors) -> EmbeddingNetwork:
    """A network with weights of a file.

    Raises:
        InvalidArgumentError: The weights do not fit the sizes.
    """
    with torch.device("meta"):
        network = EmbeddingNetwork(shape)
    expected = {name: tuple(weight.shape) for name, weight in network.named_parameters()}
    if {name: weight.shape for name, weight in weights.items()} != expected:
        raise InvalidArgumentError("its weights do not fit the sizes of the network")
    copies = {name: torch.from_numpy(weight.copy()) for name, weight in weights.items()}
    network.load_state_dict(copies, assign=True)
    return network.eval()
