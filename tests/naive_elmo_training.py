"""An ELMo folder computed word by word in float64: what its weights mean, without any speed."""

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from malmoi.text.character_ids import boundary_ids, character_ids


def sigmoid(values: Any) -> Any:
    return 1 / (1 + np.exp(-values))


class NaiveElmo:
    """Reads options.json and weights.hdf5; `layers` gives all states of a sentence."""

    def __init__(self, folder: Path) -> None:
        self.options = json.loads((folder / "options.json").read_text(encoding="utf-8"))
        self.arrays: dict[str, Any] = {}
        with h5py.File(folder / "weights.hdf5") as file:
            file.visititems(lambda name, item: self._add(name, item))

    def _add(self, name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            self.arrays[name] = np.asarray(item, np.float64)

    def word(self, ids: Any) -> Any:
        """The vector of a word of 50 character ids."""
        characters = self.arrays["char_embed"][ids]
        features = []
        for number, (width, _) in enumerate(self.options["char_cnn"]["filters"]):
            kernel = self.arrays[f"CNN/W_cnn_{number}"][0]
            windows = [
                np.einsum("ij,ijk->k", characters[start : start + width], kernel)
                for start in range(len(ids) - width + 1)
            ]
            best = np.max(windows, axis=0) + self.arrays[f"CNN/b_cnn_{number}"]
            features.append(np.maximum(best, 0))
        x = np.concatenate(features)
        carry, transform = (
            x @ self.arrays[f"CNN_high_0/W_{name}"] + self.arrays[f"CNN_high_0/b_{name}"]
            for name in ("carry", "transform")
        )
        x = sigmoid(carry) * np.maximum(transform, 0) + (1 - sigmoid(carry)) * x
        return x @ self.arrays["CNN_proj/W_proj"] + self.arrays["CNN_proj/b_proj"]

    def layers(self, words: list[str]) -> Any:
        """The states [layers + 1, words + 2, 2 · dim], the word vectors twice as layer 0."""
        units = self.options["malmoi"]["characters"]
        begin, end = boundary_ids(50)
        ids = [begin, *character_ids(words, 50, units), end]
        vectors = np.array([self.word(each) for each in ids])
        both = [self._direction(0, vectors), self._direction(1, vectors[::-1])]
        states = [np.hstack([vectors, vectors])]
        for forward, backward in zip(*both, strict=True):
            states.append(np.hstack([forward, backward[::-1]]))
        return np.array(states)

    def _direction(self, direction: int, inputs: Any) -> list[Any]:
        layers = []
        for layer in range(self.options["lstm"]["n_layers"]):
            prefix = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            weight, bias, projection = (
                self.arrays[f"{prefix}/{name}"] for name in ("W_0", "B", "W_P_0")
            )
            state, cell = np.zeros(projection.shape[1]), np.zeros(len(projection))
            outputs = []
            for vector in inputs:
                i, j, f, o = np.split(np.concatenate([vector, state]) @ weight + bias, 4)
                cell = sigmoid(i) * np.tanh(j) + sigmoid(f + 1) * cell
                state = (sigmoid(o) * np.tanh(cell)) @ projection
                outputs.append(state)
            inputs = np.array(outputs) + (inputs if layer else 0)
            layers.append(inputs)
        return layers
