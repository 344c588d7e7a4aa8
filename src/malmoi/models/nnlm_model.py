"""NeuralModel: the feed-forward language model of Bengio et al. (2003), for inference.

    x = C(the previous words), end to end        h = tanh(H x + d)
    P(word | previous words) = softmax(U h + b)  with direct connections U [h, x] + b

Needs only NumPy; `models.nnlm_network` trains it with torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike

import numpy as np
import numpy.typing as npt

from malmoi.arguments import expect, expect_path
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
BATCH_WINDOWS = 1024  # windows whose scores are in memory at a time


@dataclass(frozen=True, eq=False, repr=False)
class NnlmLayers:
    """The weights. The model never predicts `<s>`, the last word: it has only a lookup row.

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
            raise InvalidArgumentError("the shapes of the layers do not fit each other")

    @property
    def context(self) -> int:
        """The number of previous words that the model sees."""
        return int(self.hidden.shape[1] // self.lookup.shape[1])

    def scores(self, contexts: npt.NDArray[np.integer]) -> Float32Array:
        """Return the logits [windows, words - 1] of contexts [windows, context]."""
        inputs = self.lookup[contexts].reshape(len(contexts), -1)
        features = np.tanh(inputs @ self.hidden.T + self.hidden_bias)
        if self.output.shape[1] > features.shape[1]:
            features = np.hstack([features, inputs])
        logits: Float32Array = features @ self.output.T
        if self.tied:
            logits = logits @ self.lookup[:-1].T
        return logits + self.output_bias


@dataclass(frozen=True, eq=False, repr=False)
class NeuralModel(LanguageModel):
    """The words as a trie of order 1, `<s>` last; the count of each word; the weights."""

    trie: Trie
    counts: Int64Array
    layers: NnlmLayers

    def __post_init__(self) -> None:
        if not len(self.trie.words) == len(self.counts) == len(self.layers.lookup):
            raise InvalidArgumentError(
                f"{len(self.trie.words):,} words, {len(self.counts):,} counts and"
                f" {len(self.layers.lookup):,} rows of the lookup table: give one of each per word"
            )
        if self.trie.begin != len(self.trie.words) - 1:
            raise InvalidArgumentError(
                f"{BEGIN} is word {self.trie.begin:,}: it must be the last one"
            )

    @property
    def context(self) -> int:
        """The number of previous words that the model sees."""
        return self.layers.context

    def probability(self, word: str, context: Sequence[str] = ()) -> float:
        """Return P(word | context); a short context is the start of a sentence."""
        return float(self.distribution(context)[self.trie.ids([word])[0]])

    def distribution(self, context: Sequence[str] = ()) -> Float64Array:
        """Return P(word | context) of every word, by the trie's rows; they sum to 1."""
        ids = np.r_[[self.trie.begin] * self.context, self.trie.ids(context)]
        start = np.flatnonzero(ids == self.trie.begin)[-1]
        ids[:start] = self.trie.begin  # ignore the words before <s>
        scores = self.layers.scores(ids[None, -self.context :])[0].astype(np.float64)
        exponentials = np.exp(scores - scores.max())
        return np.append(exponentials / exponentials.sum(), 0.0)

    def log_probabilities(self, ids: UInt32Array) -> Float64Array:
        """Return the natural log probability of each word and sentence end of a stream of ids."""
        rows, predicting = windows(self.trie.marked(ids), self.trie.begin, self.context)
        logs = np.empty(len(predicting))
        for first in range(0, len(logs), BATCH_WINDOWS):
            batch = rows[predicting[first : first + BATCH_WINDOWS]]
            scores = self.layers.scores(batch[:, :-1])
            scores -= scores.max(axis=1, keepdims=True)
            targets = scores[np.arange(len(batch)), batch[:, -1]]
            logs[first : first + BATCH_WINDOWS] = targets - np.log(np.exp(scores).sum(axis=1))
        return logs

    def vectors(self) -> Vectors:
        """Return the lookup table as word vectors, without `<unk>`, `</s>` and `<s>`."""
        marks = [self.trie.unknown, self.trie.end, self.trie.begin]
        rows = np.delete(np.arange(len(self.counts)), marks)
        table = self.layers.lookup[rows]
        return Vectors(self.trie.words.take(rows), table, self.counts[rows], {"method": METHOD})

    def __repr__(self) -> str:
        words, dim = self.layers.lookup.shape
        return f"NeuralModel({self.context} previous words of {words:,} × {dim})"


def windows(tokens: UInt32Array, begin: int, context: int) -> tuple[UInt32Array, Int64Array]:
    """Return rows of `context` tokens and the token after them, and which rows predict a word.

    The tokens are a stream with marked lines. `begin` pads the contexts of a line's first
    words; rows that end in `begin` predict nothing.
    """
    padded = np.repeat(tokens, np.where(tokens == begin, context, 1))
    if not len(padded):
        return np.empty((0, context + 1), dtype=np.uint32), np.empty(0, dtype=np.int64)
    rows: UInt32Array = np.lib.stride_tricks.sliding_window_view(padded, context + 1)
    return rows, np.flatnonzero(rows[:, -1] != begin)


def save_nnlm(model: NeuralModel, path: str | PathLike[str]) -> None:
    """Write a neural model as a safetensors file, atomically.

    Args:
        model: the model.
        path: the file to write.

    Raises:
        InvalidFileError: the file cannot be written.
    """
    expect(model, NeuralModel, "model", "a neural model, as train_nnlm returns it")
    target = expect_path(path)
    weights = {name: getattr(model.layers, name) for name in WEIGHTS}
    words = keys_as_tensors(model.trie.words)
    metadata = {"tied": str(int(model.layers.tied))}
    write_tensor_file(target, KIND, {**weights, "counts": model.counts, **words}, metadata)


def load_nnlm(path: str | PathLike[str]) -> NeuralModel:
    """Open a neural model, memory-mapped; torch is not needed.

    Args:
        path: a file that `save_nnlm` wrote.

    Returns:
        The model.

    Raises:
        InvalidFileError: the file is missing, damaged or of another kind.

    Example:
        mm.save_nnlm(mm.train_nnlm(["I am Sam", "Sam I am"], mm.NNLM(epochs=1)), "sam.nnlm")
        model = mm.load_nnlm("sam.nnlm")
    """
    source = InputFile(expect_path(path))
    tensors, metadata = read_tensor_file(source, KIND)
    with invalid_file_on_error(source.path):
        check_tensors(tensors, 1, hidden_bias="<f4", output_bias="<f4", counts="<i8")
        check_tensors(tensors, 2, lookup="<f4", hidden="<f4", output="<f4")
        if not all(np.isfinite(tensors[name]).all() for name in WEIGHTS):
            raise InvalidArgumentError("some weights are nan or inf")
        layers = NnlmLayers(*(tensors[name] for name in WEIGHTS), tied=metadata["tied"] == "1")
        return NeuralModel(Trie(keys_from_tensors(tensors), ()), tensors["counts"], layers)
