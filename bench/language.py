"""Language models on held-out text: ours beside KenLM's, the neural one beside the n-grams.

On the beginning of enwiki.txt.gz, a paragraph a line. Of twenty lines one is held out, and one
more left for choosing settings, which this does not do. The neural model and the n-gram models
have the same words, the most frequent ones; all others are `<unk>`, which counts like any word.
"""

import os
import time
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.data import Data
from bench.measure import ROOT, Figure, say, seconds
from malmoi.errors import MalmoiWarning
from malmoi.models.ngram_model import NgramModel
from malmoi.models.nnlm_model import NeuralModel
from malmoi.text.corpus import Corpus
from malmoi.text.encoded import VocabularySettings, encode_corpus
from malmoi.text.tokenizers import English
from malmoi.train.language.ngram import NGram, train_ngram
from malmoi.train.language.nnlm import NNLM, train_nnlm

LINES, WORDS = 25_000, 10_000
EVERY, CHOOSING = 20, 10  # line 0 of twenty is held out, line 10 is for choosing settings
ORDERS = (2, 3, 4, 5, 6)
SETTINGS = NNLM()  # one thread: the same figure every time
TOKENIZER = English(marks=True)
# Printed by KenLM 0.3.0 for the same tokens, all words kept: `lmplz -o 5`, `query -v summary`.
KENLM_ORDER, KENLM_PERPLEXITY = 5, 272.651005381878
CLOSE = 1e-4  # of a perplexity that is to be the same


class Split(NamedTuple):
    """Lines as tokens, by what they are for."""

    learnt: list[list[str]]
    choosing: list[list[str]]
    held_out: list[list[str]]


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part."""
    path = Path(os.environ.get("MALMOI_DATA", ROOT.parent / "shared" / "data"))
    path = path / "corpora" / "enwiki.txt.gz"
    if not path.exists():
        yield Figure(name="language models", ours="skipped", remark=f"There is no {path}.")
        return
    split = split_lines(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MalmoiWarning)
        yield beside_kenlm(split)
        yield from beside_ngrams(split, data.folder)


def split_lines(path: Path) -> Split:
    """The beginning of a text in three parts."""
    split = Split([], [], [])
    for number, line in enumerate(islice(Corpus.of(path), LINES)):
        use = {0: split.held_out, CHOOSING: split.choosing}.get(number % EVERY, split.learnt)
        use.append(TOKENIZER(line))
    return split


def beside_kenlm(split: Split) -> Figure:
    """Our Kneser–Ney and the one that lmplz estimated from the same text."""
    say(f"Kneser–Ney of order {KENLM_ORDER}, all words")
    model = train_ngram(split.learnt, NGram(order=KENLM_ORDER))
    found = model.score(split.held_out).perplexity
    off = abs(found / KENLM_PERPLEXITY - 1)
    return Figure(
        name="Kneser–Ney, perplexity",
        ours=f"{found:.2f}",
        peer=f"{KENLM_PERPLEXITY:.2f}",
        off=off,
        asked=f"≤ {CLOSE:g}",
        met=off <= CLOSE,
    )


def beside_ngrams(split: Split, folder: Path) -> Iterator[Figure]:
    """The neural model and whichever n-gram model is best on the held-out text itself."""
    lines = (" ".join(line) for line in split.learnt)
    corpus = encode_corpus(
        Corpus.of(lines), settings=VocabularySettings(max_vocab_size=WORDS), folder=folder
    )
    say(f"Kneser–Ney of orders {ORDERS[0]} to {ORDERS[-1]}, {WORDS:,} words")
    ngrams = [train_ngram(corpus, NGram(order=order)) for order in ORDERS]
    peer = min(ngrams, key=lambda model: model.perplexity(split.held_out))
    say(f"a neural model, {len(corpus.ids):,} words {SETTINGS.epochs} times: some minutes")
    start = time.perf_counter()
    model = train_nnlm(corpus, SETTINGS)
    took = time.perf_counter() - start
    ours, theirs = model.score(split.held_out), peer.score(split.held_out)
    assert (ours.tokens, ours.unknown) == (theirs.tokens, theirs.unknown)
    remark = (
        f"NNLM beside the best Kneser–Ney, of order {peer.order}: {len(corpus.ids):,} words of"
        f" enwiki, learnt in {seconds(took)}; {ours.tokens:,} held out, {ours.unknown:,} unknown."
    )
    asked, met = "> 1×", ours.perplexity < theirs.perplexity
    yield lower("NNLM, perplexity", ours.perplexity, theirs.perplexity, asked, met, remark)
    both = mixed(model, peer, split.held_out)
    yield lower("NNLM and n-grams, half each", both, theirs.perplexity)


def lower(
    name: str, ours: float, peer: float, asked: str = "", met: bool | None = None, remark: str = ""
) -> Figure:
    """Two perplexities."""
    return Figure(
        name=name,
        ours=f"{ours:.1f}",
        peer=f"{peer:.1f}",
        ratio=peer / ours,
        asked=asked,
        met=met,
        remark=remark,
    )


def mixed(neural: NeuralModel, ngram: NgramModel, text: list[list[str]]) -> float:
    """The perplexity of the mean of two models' probabilities (Bengio et al. 2003, section 3)."""
    one = np.exp(neural.log_probabilities(neural.trie.encode(text)))
    tokens = ngram.trie.marked(ngram.trie.encode(text))
    other = ngram.token_probabilities(tokens)[tokens != ngram.trie.begin]
    return float(np.exp(-np.log((one + other) / 2).mean()))
