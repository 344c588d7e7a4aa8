"""Kneser–Ney n-gram models of the same sentences and words: what a pretraining must beat."""

from dataclasses import dataclass

from malmoi.reporting.reporter import Reporter
from malmoi.train.language.ngram import NGram, train_ngram
from malmoi.tune.elmo.sentences import CorpusText

ORDERS = (2, 3)


@dataclass(frozen=True)
class NgramPerplexity:
    """Perplexity of the held-out sentences by Kneser–Ney models, words from left to right."""

    bigram: float
    trigram: float


def ngram_perplexity(text: CorpusText, reporter: Reporter) -> NgramPerplexity:
    """Train a bigram and a trigram model on the sentences of a pretraining, and score the others.

    They predict what the forward LSTM predicts: each word, `<unk>` for one outside the vocabulary,
    and the end of each sentence. From right to left the models would differ by little: both orders
    factor the probability of the same sentences.
    """
    corpus, held_out = text.encoded(text.train), text.encoded(text.held_out).ids
    perplexities = [
        train_ngram(corpus, NGram(order=order), reporter=reporter).score_ids(held_out).perplexity
        for order in ORDERS
    ]
    return NgramPerplexity(*perplexities)
