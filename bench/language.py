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

from bench.data import Data
from bench.measure import ROOT, Figure, say, seconds
from malmoi.errors import MalmoiWarning
from malmoi.models.ngram import TextScore
from malmoi.text.corpus import Corpus
from malmoi.text.encoded import EncodedCorpus, WordChoice, encode_corpus
from malmoi.text.tokenizers import English
from malmoi.train.ngram import NGram, train_ngram, train_ngram_ids
from malmoi.train.nnlm import NNLM, train_nnlm_ids

LINES, WORDS = 25_000, 10_000
EVERY, CHOOSING = 20, 10  # line 0 of twenty is held out, line 10 is for choosing settings
ORDERS = (2, 3, 4, 5, 6)
SETTINGS = NNLM(threads=2)
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
    """The neural model and the best n-gram model, which is the one best on held-out text."""
    lines = (" ".join(line) for line in split.learnt)
    corpus = encode_corpus(Corpus.of(lines), choice=WordChoice(size=WORDS), folder=folder)
    ngrams = {order: ngram_score(corpus, order, split) for order in ORDERS}
    best = min(ngrams, key=lambda order: ngrams[order].perplexity)
    say(f"a neural model, {len(corpus.ids):,} words {SETTINGS.epochs} times: some minutes")
    start = time.perf_counter()
    model = train_nnlm_ids(corpus.ids, corpus.vocabulary, SETTINGS)
    took = time.perf_counter() - start
    found = model.score(split.held_out)
    ours, theirs = found.perplexity, ngrams[best].perplexity
    assert (found.tokens, found.unknown) == (ngrams[best].tokens, ngrams[best].unknown)
    yield Figure(
        name="NNLM, perplexity",
        ours=f"{ours:.1f}",
        peer=f"{theirs:.1f}",
        ratio=theirs / ours,
        asked="> 1×",
        met=ours < theirs,
        remark=f"NNLM beside the best Kneser–Ney, of order {best}: {len(corpus.ids):,} words of"
        f" enwiki learnt in {seconds(took)}, {found.tokens:,} held out, {found.unknown:,} unknown.",
    )


def ngram_score(corpus: EncodedCorpus, order: int, split: Split) -> TextScore:
    """How well Kneser–Ney of an order foretells what was held out."""
    model = train_ngram_ids(corpus.ids, corpus.vocabulary, NGram(order=order))
    return model.score(split.held_out)
