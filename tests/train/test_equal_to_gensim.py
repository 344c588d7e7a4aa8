"""CBOW moves words exactly as gensim does, from the same beginning.

With a Huffman tree instead of negatives, whole windows and no word left out, nothing is left to
chance. gensim takes the sigmoid from a table of 1,000 numbers, as word2vec.c does, whose places
are computed with a whole number of steps: it answers σ(0.996 x − 0.024) for σ(x). So the twin
below is compared to gensim with that table, and to us without it.
"""

from collections.abc import Callable
from math import exp
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from gensim.models import Word2Vec as GensimWord2Vec

from malmoi.train.word2vec import Word2Vec, train_word2vec
from malmoi.vectors import Vectors

Numbers = npt.NDArray[np.float64]
DIM, WINDOW, RATE = 20, 3, 0.2
PLACES, FARTHEST = 1000, 6
OURS: dict[str, Any] = {"dim": DIM, "window": WINDOW, "learning_rate": RATE, "final_rate": RATE}
OURS |= {"shrinking": False, "subsample": 0, "min_count": 1, "threads": 1}
THEIRS: dict[str, Any] = {"vector_size": DIM, "window": WINDOW, "alpha": RATE, "min_alpha": RATE}
THEIRS |= {"shrink_windows": False, "sample": 0, "min_count": 1, "workers": 1}


def lines() -> list[list[str]]:
    """Words seen 1, 2, 4 … 512 times: these have one Huffman tree, with up to nine turns."""
    drawn = [word for i, word in enumerate("abcdefghij") for _ in range(2**i)]
    mixed = [drawn[place] for place in np.random.default_rng(1).permutation(len(drawn))]
    return [mixed[at : at + 9] for at in range(0, len(mixed), 9)]


def sigmoid(score: float) -> float:
    return 1 / (1 + exp(-score))


def sigmoid_of_table(score: float) -> float:
    place = int(np.float32(score + FARTHEST) * (PLACES // FARTHEST // 2))
    return sigmoid((place / PLACES * 2 - 1) * FARTHEST)


def word2vec_c(model: Any, begin: Numbers, curve: Callable[[float], float]) -> Numbers:
    """CBOW with hierarchical softmax, line by line as in word2vec.c (TrainModelThread)."""
    words = model.wv.index_to_key
    codes, points = ([model.wv.get_vecattr(w, what) for w in words] for what in ("code", "point"))
    syn0, syn1 = begin.copy(), np.zeros_like(begin)
    for line in lines():
        ids = [words.index(word) for word in line]
        for place, word in enumerate(ids):
            window = ids[max(0, place - WINDOW) : place] + ids[place + 1 : place + WINDOW + 1]
            neu1, neu1e = syn0[window].mean(axis=0), np.zeros(DIM)
            for point, code in zip(points[word], codes[word], strict=True):
                step = RATE * (1 - code - curve(float(neu1 @ syn1[point])))
                neu1e += step * syn1[point]
                syn1[point] += step * neu1
            for context in window:
                syn0[context] += neu1e
    return syn0


@pytest.fixture(scope="module")
def model() -> Any:
    """gensim's, not trained yet."""
    model = GensimWord2Vec(**THEIRS, sg=0, hs=1, negative=0, epochs=1, seed=1)
    model.build_vocab(lines())
    return model


def test_cbow_moves_words_as_word2vec_does_and_so_does_gensim(model: Any) -> None:
    begin = model.wv.vectors.copy()
    settings = Word2Vec(**OURS, architecture="cbow", softmax="hierarchical", epochs=1)
    text = [" ".join(line) for line in lines()]
    ours = train_word2vec(text, settings, start=Vectors(model.wv.index_to_key, begin))
    model.train(lines(), total_examples=model.corpus_count, epochs=1)
    moved = ours.matrix - begin
    assert list(ours.keys) == model.wv.index_to_key
    np.testing.assert_allclose(moved, word2vec_c(model, begin, sigmoid) - begin, atol=1e-5)
    expected = word2vec_c(model, begin, sigmoid_of_table)
    np.testing.assert_allclose(model.wv.vectors, expected, atol=1e-5)
    assert np.abs(moved).max() > 0.1
