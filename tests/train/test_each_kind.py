"""One small training of each kind: what every instruction set and bounds checks are tried on."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from malmoi.text.encoded import EncodedCorpus
from malmoi.train.common.inputs import encode_token_lists
from malmoi.train.counts.cooccurrence import Cooccurrence, count_cooccurrences
from malmoi.train.counts.lsa import LSA, train_lsa
from malmoi.train.glove.glove import train_glove
from malmoi.train.glove.settings import GloVe
from malmoi.train.language.ngram import NGram, train_ngram
from malmoi.train.word2vec import trainer as word_learning
from malmoi.train.word2vec.fasttext import FastText, train_fasttext
from malmoi.train.word2vec.word2vec import Word2Vec, train_word2vec
from malmoi.vectors import Vectors
from tests.train.worlds import ANIMALS, METALS, inflected, lines

SMALL: dict[str, Any] = {"dim": 20, "window": 3, "epochs": 4, "min_count": 1, "subsample": 0}
KINDS = [
    {"architecture": "skip-gram"},
    {"architecture": "cbow"},
    {"architecture": "skip-gram", "loss": "hierarchical-softmax"},
    {"architecture": "cbow", "loss": "hierarchical-softmax"},
]
STABLE = {
    "negative-sampling": 3.2,
    "hierarchical-softmax": 6.3,
}  # the loss of a first epoch that converges


@pytest.fixture(autouse=True)
def _many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_learning, "CHUNK_TOKENS", 500)


def encoded() -> EncodedCorpus:
    return encode_token_lists(line.split() for line in lines(200))


def assert_learnt(vectors: Vectors) -> None:
    losses = json.loads(vectors.meta["losses"])
    assert losses[-1] < losses[0]
    assert np.isfinite(vectors.matrix).all()
    assert set(vectors.keys) == {*ANIMALS, *METALS}


@pytest.mark.parametrize("kind", KINDS)
def test_word2vec(kind: dict[str, Any]) -> None:
    settings = Word2Vec(**SMALL, **kind)
    for window in (1, 3):
        assert_learnt(train_word2vec(lines(200), replace(settings, window=window)))


@pytest.mark.parametrize("kind", KINDS)
def test_fasttext(kind: dict[str, Any]) -> None:
    assert_learnt(train_fasttext(lines(200), FastText(**SMALL, **kind, buckets=100)))


@pytest.mark.parametrize("kind", KINDS)
def test_words_that_share_their_ngrams_do_not_diverge(kind: dict[str, Any]) -> None:
    """Gradients of one window that are added up from old scores overshoot where rows are shared."""
    given = SMALL | kind | {"window": 5, "learning_rate": 0.1, "units": "jamo", "threads": 1}
    vectors = train_fasttext(inflected(600), FastText(**given, buckets=20_000))
    losses = json.loads(vectors.meta["losses"])
    assert losses[-1] < losses[0]
    assert losses[0] < STABLE[kind.get("loss", "negative-sampling")]


def test_glove() -> None:
    settings = GloVe(dim=6, window=3, min_count=1, iterations=4, threads=1)
    assert_learnt(train_glove(lines(200), settings))


def test_cooccurrences() -> None:
    corpus = encoded()
    counts = count_cooccurrences(corpus, Cooccurrence(window=3))
    assert counts.values.sum() > 0


@pytest.mark.parametrize("matrix", ["tf-idf", "ppmi"])
def test_lsa(matrix: Any) -> None:
    corpus = encoded()
    vectors = train_lsa(corpus, LSA(dim=4, matrix=matrix))
    assert np.isfinite(vectors.matrix).all()


def test_ngrams() -> None:
    sentences = [line.split() for line in lines(200)]
    model = train_ngram(sentences, NGram(order=3, min_count=1, smoothing="add-k"))
    assert np.isfinite(model.perplexity(sentences))
