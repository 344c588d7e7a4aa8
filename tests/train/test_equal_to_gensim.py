"""CBOW moves words exactly as gensim does, from the same beginning.

With a Huffman tree instead of negatives, whole windows and no word left out, nothing is left to
chance. gensim takes the sigmoid from a table of 1,000 numbers, as word2vec.c does, whose places
are computed with a whole number of steps: it answers σ(0.996 x − 0.024) for σ(x). Its FastText
has another table. So the twin below is compared to gensim with its tables, and to us without.
"""

from collections.abc import Callable
from functools import partial
from math import exp
from typing import Any

import numpy as np
import pytest
from gensim.models import FastText as GensimFastText
from gensim.models import Word2Vec as GensimWord2Vec

from malmoi.arrays import Float64Array
from malmoi.subwords import Subwords, SubwordVectors
from malmoi.train.common.options import TrainOptions
from malmoi.train.word2vec.fasttext import FastText, train_fasttext
from malmoi.train.word2vec.initialization import random_rows
from malmoi.train.word2vec.word2vec import Word2Vec, train_word2vec
from malmoi.vectors import Vectors

WORDS = ["a", "bcdefg", "hijklmno", "pqr", "stuvw", "xy", "zäöü", "éèêëàâ", "ôûî", "ñçß"]
DIM, WINDOW, RATE, BUCKETS = 20, 3, 0.2, 50_000
OURS: dict[str, Any] = {
    "dim": DIM,
    "window": WINDOW,
    "learning_rate": RATE,
    "min_learning_rate": RATE,
}
OURS |= {"shrink_windows": False, "subsample": 0, "min_count": 1, "threads": 1, "epochs": 1}
OURS |= {"architecture": "cbow", "loss": "hierarchical-softmax"}
THEIRS: dict[str, Any] = {"vector_size": DIM, "window": WINDOW, "alpha": RATE, "min_alpha": RATE}
THEIRS |= {"shrink_windows": False, "sample": 0, "min_count": 1, "workers": 1}


def lines() -> list[list[str]]:
    """Words seen 1, 2, 4 … 512 times: these have one Huffman tree, with up to nine turns."""
    drawn = [word for i, word in enumerate(WORDS) for _ in range(2**i)]
    mixed = [drawn[place] for place in np.random.default_rng(1).permutation(len(drawn))]
    return [mixed[at : at + 9] for at in range(0, len(mixed), 9)]


TEXT = [" ".join(line) for line in lines()]


def sigmoid(score: float) -> float:
    return 1 / (1 + exp(-score))


def looked_up(score: float, places: int, farthest: int) -> float:
    """The sigmoid from a table that ends at ± farthest."""
    place = int(np.float32(score + farthest) * (places // farthest // 2))
    return sigmoid((place / places * 2 - 1) * farthest)


def word2vec_c(
    model: Any, begin: Float64Array, curve: Callable[[float], float], rows: list[list[int]]
) -> Float64Array:
    """CBOW with hierarchical softmax as in word2vec.c and, with n-grams, in fastText.

    `begin` are the input rows, and `rows` those of each word.
    """
    words = model.wv.index_to_key
    codes, points = ([model.wv.get_vecattr(w, what) for w in words] for what in ("code", "point"))
    syn0, syn1 = begin.astype(np.float64), np.zeros((len(words), DIM))
    for line in lines():
        ids = [words.index(word) for word in line]
        for place, word in enumerate(ids):
            around = ids[max(0, place - WINDOW) : place] + ids[place + 1 : place + WINDOW + 1]
            window = [row for each in around for row in rows[each]]
            neu1, neu1e = syn0[window].mean(axis=0), np.zeros(DIM)
            for point, code in zip(points[word], codes[word], strict=True):
                step = RATE * (1 - code - curve(float(neu1 @ syn1[point])))
                neu1e += step * syn1[point]
                syn1[point] += step * neu1
            for row in window:
                syn0[row] += neu1e
    return syn0


def ready(kind: Any, **more: Any) -> Any:
    """A model of gensim's, not trained yet."""
    model = kind(**THEIRS, **more, sg=0, hs=1, negative=0, epochs=1, seed=1)
    model.build_vocab(lines())
    return model


def test_cbow_moves_words_as_word2vec_does_and_so_does_gensim() -> None:
    model = ready(GensimWord2Vec)
    begin, keys = model.wv.vectors.copy(), model.wv.index_to_key
    ours = train_word2vec(
        TEXT, Word2Vec(**OURS), options=TrainOptions(init_vectors=Vectors(keys, begin))
    )
    model.train(lines(), total_examples=model.corpus_count, epochs=1)
    rows = [[word] for word in range(len(keys))]
    assert list(ours.keys) == keys
    assert np.abs(ours.matrix - begin).max() > 0.1
    expected = word2vec_c(model, begin, sigmoid, rows)
    np.testing.assert_allclose(ours.matrix, expected, atol=1e-5)
    expected = word2vec_c(model, begin, partial(looked_up, places=1000, farthest=6), rows)
    np.testing.assert_allclose(model.wv.vectors, expected, atol=1e-5)


def test_cbow_with_ngrams_moves_rows_as_gensim_does() -> None:
    """All rows of a window count alike, so that a word with many n-grams weighs more."""
    model = ready(GensimFastText, min_n=3, max_n=4, bucket=BUCKETS)
    wv, keys = model.wv, model.wv.index_to_key
    begin = np.concatenate([wv.vectors_vocab, wv.vectors_ngrams])
    rows = [[i, *(len(keys) + np.array(wv.buckets_word[i], int))] for i in range(len(keys))]
    every = [row for each in rows for row in each]
    assert len(set(every)) == len(every)  # no word shares an n-gram, which waits for a line's end
    assert len({len(each) for each in rows}) > 2
    cut = Subwords(min_n=3, max_n=4, buckets=BUCKETS)
    start = SubwordVectors(
        keys,
        np.array([begin[each].mean(axis=0) for each in rows]),
        word_rows=begin[: len(keys)],
        bucket_rows=begin[len(keys) :],
        subwords=cut,
    )
    settings = FastText(**OURS, min_n=3, max_n=4, buckets=BUCKETS)
    ours = train_fasttext(TEXT, settings, options=TrainOptions(init_vectors=start))
    model.train(lines(), total_examples=model.corpus_count, epochs=1)
    expected = word2vec_c(model, begin, sigmoid, rows)
    np.testing.assert_allclose(ours.word_rows, expected[: len(keys)], atol=1e-5)
    expected = word2vec_c(model, begin, partial(looked_up, places=512, farthest=8), rows)
    np.testing.assert_allclose(wv.vectors_vocab, expected[: len(keys)], atol=1e-5)


def test_rows_begin_as_far_from_zero_as_gensims() -> None:
    ours, theirs = random_rows(500, DIM, seed=1)[:, :DIM], ready(GensimWord2Vec).wv.vectors
    assert np.abs(ours).max() <= 1 / DIM
    assert np.abs(theirs).max() <= 1 / DIM
    assert ours.std() == pytest.approx(theirs.std(), rel=0.1)
