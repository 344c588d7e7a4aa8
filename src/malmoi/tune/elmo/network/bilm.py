"""The bidirectional language model of ELMo (Peters et al. 2018), for training.

    forward:  <S> w1 … wn   predicts  w1 … wn </S>     backward:  </S> wn … w1  predicts  wn … <S>

Each direction has its own LSTMs; layers above the first add their input to their output. The cell
is as wide as its output, without the projection of the original: torch is fast without one.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from malmoi.text.character_ids import NUM_IDS
from malmoi.tune.elmo.network.char_cnn import CharacterCnn
from malmoi.tune.elmo.settings import Elmo

FORGET_BIAS = 1.0  # that readers add to the bias of the forget gates; it is not in the file
DIRECTIONS = 2


class BidirectionalLm(nn.Module):
    """A character CNN, and `layers` LSTMs per direction.

    With `uses_bfloat16` the LSTMs compute in bfloat16 while they are trained; their weights stay
    float32.
    """

    uses_bfloat16 = False

    def __init__(self, settings: Elmo) -> None:
        super().__init__()
        dim = settings.dim
        self.dropout = settings.dropout
        self.cnn = CharacterCnn(NUM_IDS[settings.characters], settings.filters, dim)
        self.num_layers = settings.layers
        self.lstms = nn.ModuleList(_new_lstm(dim) for _ in range(DIRECTIONS * settings.layers))

    def forward(self, groups: list[Tensor], positions: Tensor) -> Tensor:
        """The states that predict words: [2, words + 1, sentences, dim], each in its direction."""
        vectors = functional.embedding(positions, self.cnn(groups))
        tops = [
            self.layers(direction, inputs[:-1])[-1]
            for direction, inputs in enumerate((vectors, vectors.flip(0)))
        ]
        return functional.dropout(torch.stack(tops), self.dropout, self.training)

    def lstm(self, direction: int, layer: int) -> nn.LSTM:
        """The LSTM of a layer; direction 0 is forward, 1 backward."""
        lstm = self.lstms[direction * self.num_layers + layer]
        assert isinstance(lstm, nn.LSTM)
        return lstm

    def layers(self, direction: int, inputs: Tensor) -> list[Tensor]:
        """The states of all layers of a direction; [words, sentences, dim] in reading order."""
        states: list[Tensor] = []
        for number in range(self.num_layers):
            lstm = self.lstm(direction, number)
            dropped = functional.dropout(inputs, self.dropout, self.training)
            in_bfloat16 = self.uses_bfloat16 and self.training
            with torch.autocast("cpu", torch.bfloat16, enabled=in_bfloat16):
                outputs = lstm(dropped)[0].float()
            inputs = outputs + inputs if number else outputs
            states.append(inputs)
        return states


def _new_lstm(dim: int) -> nn.LSTM:
    """An LSTM with one bias, whose forget gates are open at first."""
    lstm = nn.LSTM(dim, dim)
    weights = dict(lstm.named_parameters())
    with torch.no_grad():
        for name in ("bias_ih_l0", "bias_hh_l0"):
            weights[name].zero_()
        weights["bias_ih_l0"][dim : 2 * dim] = FORGET_BIAS  # gates i, f, g, o
    weights["bias_hh_l0"].requires_grad_(False)
    return lstm
