"""Texts tokenized by hand with made-up hidden states, and slow twins of mixing and pooling."""

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.encode.pipeline.activations import Activations
from malmoi.encode.tokens.tokenized import Tokenized


def numbers(*values: int) -> npt.NDArray[np.int32]:
    return np.array(values, np.int32)


def playing() -> Tokenized:
    """The text `no playing`, whose second word is two tokens."""
    return Tokenized(
        text="no playing",
        tokens=("[CLS]", "no", "play", "##ing", "[SEP]"),
        ids=numbers(101, 2053, 2377, 2075, 102),
        token_type_ids=numbers(0, 0, 0, 0, 0),
        sequence_ids=numbers(-1, 0, 0, 0, -1),
        word_ids=numbers(-1, 0, 1, 1, -1),
        offsets=np.array([[0, 0], [0, 2], [3, 7], [7, 10], [0, 0]], np.int32),
    )


def empty() -> Tokenized:
    return Tokenized(
        text="",
        tokens=("[CLS]", "[SEP]"),
        ids=numbers(101, 102),
        token_type_ids=numbers(0, 0),
        sequence_ids=numbers(-1, -1),
        word_ids=numbers(-1, -1),
        offsets=np.zeros((2, 2), np.int32),
    )


def pair() -> Tokenized:
    """The pair `no` and `yes`: segments 0 and 1, words numbered on."""
    return Tokenized(
        text="no",
        pair="yes",
        tokens=("[CLS]", "no", "[SEP]", "yes", "[SEP]"),
        ids=numbers(101, 2053, 102, 2748, 102),
        token_type_ids=numbers(0, 0, 0, 1, 1),
        sequence_ids=numbers(-1, 0, -1, 1, -1),
        word_ids=numbers(-1, 0, -1, 1, -1),
        offsets=np.array([[0, 0], [0, 2], [0, 0], [0, 3], [0, 0]], np.int32),
    )


def made_up(layers: int = 5, dim: int = 3) -> Activations:
    texts = (playing(), empty(), pair())
    random = np.random.default_rng(4)
    states = tuple(random.normal(size=(layers, len(t), dim)).astype(np.float32) for t in texts)
    return Activations(texts, states, tuple(range(layers)), layers)


def naive_mix(
    layers: list[Float32Array], mix: str, weights: list[float], scale: float
) -> Float32Array:
    if mix == "concat":
        return np.array([np.hstack([layer[i] for layer in layers]) for i in range(len(layers[0]))])
    if mix == "weighted":
        shares = [scale * np.exp(w) / sum(np.exp(v) for v in weights) for w in weights]
        return np.array(sum(share * layer for share, layer in zip(shares, layers, strict=True)))
    total = np.array(sum(layer.astype(np.float64) for layer in layers))
    return np.array(total / len(layers) if mix == "mean" else total)


def naive_pool(rows: Float32Array, how: str) -> Float32Array:
    if len(rows) == 0:
        return np.zeros(rows.shape[1], np.float32)
    answers = {
        "cls": rows[0],
        "first": rows[0],
        "last": rows[-1],
        "max": rows.max(axis=0),
        "sum": rows.sum(axis=0),
        "mean": rows.mean(axis=0),
        "mean_sqrt": rows.sum(axis=0) / len(rows) ** 0.5,
    }
    return np.array(answers[how])
