"""Files that trainings and language models leave: corpora, counts, models, checkpoints."""

from functools import cache
from pathlib import Path

import numpy as np

from bench.fuzzing.subjects import Subject, digest, tensor_subjects
from malmoi.files import checkpoint
from malmoi.keys import Keys
from malmoi.models.cooccurrences import (
    is_cooccurrences,
    load_cooccurrences,
    save_cooccurrences,
)
from malmoi.models.language_files import load_language_model
from malmoi.models.ngram_files import save_ngram
from malmoi.models.nnlm_model import NeuralModel, NnlmLayers, save_nnlm
from malmoi.models.trie import Trie
from malmoi.text.corpus import Corpus
from malmoi.text.encoded import EncodedCorpus, encode_corpus, open_encoded
from malmoi.train.common.options import TrainOptions
from malmoi.train.counts.cooccurrence import count_cooccurrences
from malmoi.train.glove.glove import train_glove
from malmoi.train.glove.settings import GloVe
from malmoi.train.language.ngram import train_ngram
from malmoi.train.word2vec.word2vec import Word2Vec, train_word2vec

LINES = ["the cat sat on the mat", "the dog sat on the log", "a cat and a dog", "the end"] * 8
WORDS = Word2Vec(dim=4, epochs=1, min_count=1, threads=1, subsample=0.0)
ASKED = (["the", "cat"], ["unseen", "dog", "sat"])


def sentences() -> list[list[str]]:
    """The text as lists of words."""
    return [line.split() for line in LINES]


def write_corpus(folder: Path) -> None:
    """The text as ids."""
    encode_corpus(Corpus.of(LINES), folder=folder)
    (made,) = folder.glob("*.corpus")
    made.rename(folder / "x.corpus")


def use_corpus(folder: Path) -> str:
    """Train on it."""
    corpus = open_encoded(folder / "x.corpus")
    counts = count_cooccurrences(corpus)
    answers = [corpus.ids, list(corpus.vocabulary), corpus.vocabulary.counts, corpus.tokenizer]
    vectors = train_word2vec(corpus, WORDS)
    return digest(*answers, vectors.matrix, counts.columns, counts.values)


@cache
def corpus() -> EncodedCorpus:
    """The text as ids, made once."""
    return encode_corpus(Corpus.of(LINES))


def write_counts(folder: Path) -> None:
    """How often words stand together."""
    counts = count_cooccurrences(corpus())
    save_cooccurrences(counts, folder / "x.counts")


def use_counts(folder: Path) -> str:
    """Sums, rows, and a training."""
    is_cooccurrences(folder / "x.counts")
    counts = load_cooccurrences(folder / "x.counts")
    answers = [counts.totals, counts.context_totals, counts.starts, counts.columns, counts.values]
    word = counts.vocabulary.words[0]
    answers += [list(counts.vocabulary), *counts.row(word), counts.value(word, word)]
    vectors = train_glove(counts, GloVe(dim=4, iterations=1, threads=1, min_count=1))
    return digest(*answers, vectors.matrix)


def write_ngram(folder: Path, name: str = "x.ngram") -> None:
    """A model of three words."""
    save_ngram(train_ngram(sentences()), folder / name)


def write_nnlm(folder: Path) -> None:
    """A network that knows nothing."""
    words = ["the", "cat", "dog", "sat", "<unk>", "</s>", "<s>"]
    random = np.random.default_rng(3)

    def drawn(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return random.normal(size=shape).astype(np.float32)

    layers = NnlmLayers(drawn(7, 3), drawn(5, 6), drawn(5), drawn(6, 11), drawn(6), tied=False)
    model = NeuralModel(Trie(Keys.of(words), ()), np.arange(7, 0, -1), layers)
    save_nnlm(model, folder / "x.nnlm")


def use_language_model(path: Path) -> str:
    """Probabilities, a text's, and a sentence that is drawn."""
    model = load_language_model(path)
    answers: list[object] = [model.distribution(context) for context in ([], *ASKED)]
    answers += [model.score(ASKED), model.next_words(["the"], 3), list(model.trie.words)]
    return digest(*answers, model.sample(1, max_words=8))


def write_checkpoint(folder: Path) -> None:
    """As a training leaves it."""
    pause, checkpoint.SAVE_EVERY = checkpoint.SAVE_EVERY, 0.0
    try:
        train_word2vec(corpus(), WORDS, options=TrainOptions(checkpoint=folder / "x.checkpoint"))
    finally:
        checkpoint.SAVE_EVERY = pause


def use_checkpoint(folder: Path) -> str:
    """Go on from it."""
    vectors = train_word2vec(
        corpus(), WORDS, options=TrainOptions(checkpoint=folder / "x.checkpoint", resume=True)
    )
    return digest(vectors.matrix, vectors.context_matrix)


def subjects() -> list[Subject]:
    """All of them."""
    neural = Subject("nnlm", write_nnlm, lambda folder: use_language_model(folder / "x.nnlm"))
    ngram = Subject("ngram", write_ngram, lambda folder: use_language_model(folder / "x.ngram"))
    return [
        *tensor_subjects(Subject("corpus", write_corpus, use_corpus)),
        *tensor_subjects(Subject("co-occurrences", write_counts, use_counts)),
        *tensor_subjects(ngram),
        *tensor_subjects(neural),
        *tensor_subjects(Subject("checkpoint", write_checkpoint, use_checkpoint)),
        Subject(
            "arpa",
            lambda folder: write_ngram(folder, "x.arpa"),
            lambda folder: use_language_model(folder / "x.arpa"),
        ),
    ]
