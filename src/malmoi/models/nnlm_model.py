"""NeuralModel: the feed-forward language model of Bengio et al. (2003), ready to be asked.

    x = C(the previous words), end to end        h = tanh(H x + d)
    P(word | previous words) = softmax(U h + b)  with direct connections U [h, x] + b

Arrays and NumPy alone. Knows nothing of training, nor of torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Float64Array, Int64Array, UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.files.key_tensors import keys_as_tensors, keys_from_tensors
from malmoi.files.source import InputFile
from malmoi.files.tensor_file import FileKind, read_tensor_file, write_tensor_file
from malmoi.files.tensors import check_tensors, invalid_file_on_error
from malmoi.models.language_model import LanguageModel
from malmoi.models.sentences import BEGIN
from malmoi.models.trie import Trie
from malmoi.vectors import Vectors

METHOD = "nnlm"
KIND = FileKind(METHOD, "a neural language model")
WEIGHTS = ("lookup", "hidden", "hidden_bias", "output", "output_bias")
AT_ONCE = 1024  # windows whose scores are held at a time


@dataclass(frozen=True, eq=False, repr=False)
class NnlmLayers:
    """The weights. `<s>`, the last word, is never foretold: it has a row in the lookup alone.

    With direct connections the features are h and x, else h alone. A tied model's output is
    `dim` numbers, and the score of a word is their product with its row in the lookup.
    """

    lookup: Float32Array  # C [words, dim]
    hidden: Float32Array  # H [hidden, context * dim]
    hidden_bias: Float32Array  # d [hidden]
    output: Float32Array  # U [words - 1, features], or [dim, features] if tied
    output_bias: Float32Array  # b [words - 1]
    tied: bool = field(kw_only=True)

    def __post_init__(self) -> None:
        (words, dim), (hidden, inputs) = self.lookup.shape, self.hidden.shape
        outputs = dim if self.tied else words - 1
        if (
            not dim
            or not inputs
            or inputs % dim
            or self.output.shape not in [(outputs, hidden), (outputs, hidden + inputs)]
            or (self.hidden_bias.shape, self.output_bias.shape) != ((hidden,), (words - 1,))
        ):
            raise InvalidArgumentError("the layers do not fit each other")

    @property
    def context(self) -> int:
        """How many previous words are looked at."""
        return int(self.hidden.shape[1] // self.lookup.shape[1])

    def scores(self, contexts: npt.NDArray[np.integer]) -> Float32Array:
        """What the softmax is taken of [windows, words - 1], from contexts [windows, context]."""
        inputs = self.lookup[contexts].reshape(len(contexts), -1)
        features = np.tanh(inputs @ self.hidden.T + self.hidden_bias)
        if self.output.shape[1] > features.shape[1]:
            features = np.hstack([features, inputs])
        found: Float32Array = features @ self.output.T
        if self.tied:
            found = found @ self.lookup[:-1].T
        return found + self.output_bias


@dataclass(frozen=True, eq=False, repr=False)
class NeuralModel(LanguageModel):
    """The words of a trie of order 1, `<s>` last; how often each was seen; the weights."""

    trie: Trie
    counts: Int64Array
    layers: NnlmLayers

    def __post_init__(self) -> None:
        if not len(self.trie.words) == len(self.counts) == len(self.layers.lookup):
            raise InvalidArgumentError(
                f"{len(self.trie.words):,} words, {len(self.counts):,} counts and"
                f" {len(self.layers.lookup):,} rows of the lookup table: give one each"
            )
        if self.trie.begin != len(self.trie.words) - 1:
            raise InvalidArgumentError(
                f"{BEGIN} is word {self.trie.begin:,}: it must be the last one"
            )

    @property
    def context(self) -> int:
        """How many previous words are looked at."""
        return self.layers.context

    def probability(self, word: str, context: Sequence[str] = ()) -> float:
        """P(word | context); a context that is short stands at the start of a sentence."""
        return float(self.distribution(context)[self.trie.ids([word])[0]])

    def distribution(self, context: Sequence[str] = ()) -> Float64Array:
        """P(word | context) of every word, by the trie's rows; they sum to 1."""
        ids = np.r_[[self.trie.begin] * self.context, self.trie.ids(context)]
        start = np.flatnonzero(ids == self.trie.begin)[-1]
        ids[:start] = self.trie.begin  # nothing counts from before <s>
        scores = self.layers.scores(ids[None, -self.context :])[0].astype(np.float64)
        chances = np.exp(scores - scores.max())
        return np.append(chances / chances.sum(), 0.0)

    def log_probabilities(self, ids: UInt32Array) -> Float64Array:
        """log P(token | the tokens before it in its line) of each word and line's end."""
        every, foretelling = windows(self.trie.marked(ids), self.trie.begin, self.context)
        found = np.empty(len(foretelling))
        for first in range(0, len(found), AT_ONCE):
            part = every[foretelling[first : first + AT_ONCE]]
            scores = self.layers.scores(part[:, :-1])
            scores -= scores.max(axis=1, keepdims=True)
            asked = scores[np.arange(len(part)), part[:, -1]]
            found[first : first + AT_ONCE] = asked - np.log(np.exp(scores).sum(axis=1))
        return found

    def vectors(self) -> Vectors:
        """The lookup table: a vector for each word, none for `<unk>`, `</s>` and `<s>`."""
        marks = [self.trie.unknown, self.trie.end, self.trie.begin]
        rows = np.delete(np.arange(len(self.counts)), marks)
        table = self.layers.lookup[rows]
        return Vectors(self.trie.words.take(rows), table, self.counts[rows], {"method": METHOD})

    def __repr__(self) -> str:
        words, dim = self.layers.lookup.shape
        return f"NeuralModel({self.context} previous words of {words:,} × {dim})"


def windows(tokens: UInt32Array, begin: int, context: int) -> tuple[UInt32Array, Int64Array]:
    """Each token after the `context` before it, as rows; and which rows foretell a word.

    The tokens are a stream with marked lines. A line's first words have `begin` before them
    as often as it takes; the other rows, which end in `begin` itself, are to be left out.
    """
    padded = np.repeat(tokens, np.where(tokens == begin, context, 1))
    if not len(padded):
        return np.empty((0, context + 1), dtype=np.uint32), np.empty(0, dtype=np.int64)
    rows: UInt32Array = np.lib.stride_tricks.sliding_window_view(padded, context + 1)
    return rows, np.flatnonzero(rows[:, -1] != begin)


def save_nnlm(model: NeuralModel, path: str | PathLike[str]) -> None:
    """Write a model as a safetensors file: the weights by their names, `counts`, the words."""
    weights = {name: getattr(model.layers, name) for name in WEIGHTS}
    words = keys_as_tensors(model.trie.words)
    metadata = {"tied": str(int(model.layers.tied))}
    write_tensor_file(Path(path), KIND, {**weights, "counts": model.counts, **words}, metadata)


def load_nnlm(path: str | PathLike[str]) -> NeuralModel:
    """Open a model, memory-mapped; torch is not needed."""
    source = InputFile(Path(path))
    tensors, metadata = read_tensor_file(source, KIND)
    with invalid_file_on_error(source.path):
        check_tensors(tensors, 1, hidden_bias="<f4", output_bias="<f4", counts="<i8")
        check_tensors(tensors, 2, lookup="<f4", hidden="<f4", output="<f4")
        if not all(np.isfinite(tensors[name]).all() for name in WEIGHTS):
            raise InvalidArgumentError("its weights hold nan or inf")
        layers = NnlmLayers(*(tensors[name] for name in WEIGHTS), tied=metadata["tied"] == "1")
        return NeuralModel(Trie(keys_from_tensors(tensors), ()), tensors["counts"], layers)
