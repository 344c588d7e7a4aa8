"""What a trained network predicts: words from their context, probabilities of sentences."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.errors import warn
from malmoi.nearest.top_k import top_k
from malmoi.train.word2vec.huffman import HuffmanPaths, huffman_paths

if TYPE_CHECKING:
    from malmoi.compat.gensim.models.word2vec_model import Word2VecModel
    from malmoi.compat.gensim.vectors.keyed_vectors import KeyedVectors


def predict_output_word(
    wv: "KeyedVectors", outputs: Float32Array, context: Sequence[str | int], topn: int
) -> list[tuple[str, float]] | None:
    """The most probable words in the middle of a context; None if none of its words is known."""
    rows = [wv.get_index(word) for word in context if wv.has_index_for(word)]
    if not rows:
        warn("none of the context words has a vector")
        return None
    logits = outputs @ wv.vectors[rows].mean(axis=0)
    probabilities = np.exp(logits - logits.max())
    probabilities /= probabilities.sum()
    best = top_k(probabilities, min(topn, len(probabilities)))
    return [(wv.index_to_key[row], float(probabilities[row])) for row in best]


def score_sentences(
    model: "Word2VecModel", sentences: Iterable[Sequence[str]], total_sentences: int
) -> npt.NDArray[np.float32]:
    """The log probability of each sentence: that of each word, given the words around it."""
    paths = huffman_paths(np.maximum(model.wv.expandos["count"], 1))
    scores = []
    for sentence in islice(sentences, total_sentences):
        rows = [row for word in sentence if (row := model.wv.key_to_index.get(word)) is not None]
        scores.append(sum(score_word(model, paths, rows, at) for at in range(len(rows))))
    return np.array(scores, dtype=np.float32)


def score_word(model: "Word2VecModel", paths: HuffmanPaths, rows: list[int], at: int) -> float:
    """The log probability of the word at a position, by its path in the Huffman tree."""
    near = rows[max(0, at - model.window) : at] + rows[at + 1 : at + 1 + model.window]
    if not near or model.outputs is None:
        return 0.0
    inputs = model.wv.vectors[near]
    if not model.sg:
        inputs = inputs.mean(axis=0, keepdims=True)
    path = slice(paths.starts[rows[at]], paths.starts[rows[at] + 1])
    signs = 1 - 2.0 * paths.codes[path]
    return -float(np.logaddexp(0, -signs * (inputs @ model.outputs[paths.nodes[path]].T)).sum())
