"""The softmax at the start: LSA vectors of the words instead of random numbers.

Of the weights of a model most are rows of the softmax, and a rare word is seldom predicted: from a
random row it would hardly move. Words with the same neighbours start with similar rows here, which
lowers the perplexity of a short training by a tenth or more.
"""

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.reporting.reporter import Reporter
from malmoi.train.counts.lsa import LSA, train_lsa
from malmoi.tune.elmo.sentences import MARKS, CorpusText
from malmoi.tune.elmo.settings import Elmo
from malmoi.vectors import l2_normalize

WINDOW = 2  # neighbours of a word on each side


def random_softmax(text: CorpusText, settings: Elmo) -> Float32Array:
    """The table [words, dim + 1]: random rows of about length 1, and the logs of frequencies.

    The last number of a row is the bias of its word.
    """
    random = np.random.default_rng(settings.seed)
    counts = text.words.counts + 1.0
    table: Float32Array = random.standard_normal((len(counts), settings.dim + 1), np.float32)
    table /= np.sqrt(settings.dim)
    table[:, -1] = np.log(counts / counts.sum())
    return table


def lsa_softmax(text: CorpusText, settings: Elmo, reporter: Reporter) -> Float32Array:
    """The same with LSA vectors of length 1, for all words that have neighbours."""
    table = random_softmax(text, settings)
    corpus = text.encoded(text.train)
    dim = min(settings.dim, len(corpus.vocabulary))
    lsa = LSA(dim=dim, matrix="ppmi", window=WINDOW, seed=settings.seed)
    vectors = train_lsa(corpus, lsa, reporter=reporter).matrix
    has_vector = np.flatnonzero(vectors.any(axis=1))
    table[has_vector + len(MARKS), :dim] = l2_normalize(vectors[has_vector])
    return table
