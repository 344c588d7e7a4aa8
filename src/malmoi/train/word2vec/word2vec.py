"""Word2Vec: vectors of words that foretell each other.

Mikolov et al.: Efficient Estimation of Word Representations in Vector Space; Distributed
Representations of Words and Phrases and their Compositionality (both 2013). The pairs of a
window share its negatives: as good, and one small matrix product instead of many dot products.
"""

from dataclasses import dataclass
from pathlib import Path

from malmoi.reporting.reporter import Progress, no_progress
from malmoi.text.tokenizers import Tokenizer
from malmoi.train.common.inputs import Text, as_encoded
from malmoi.train.common.memory import Telling, unheard
from malmoi.train.word2vec.input_rows import own_rows
from malmoi.train.word2vec.network import TrainOptions, train_network
from malmoi.train.word2vec.settings import WordSettings
from malmoi.train.word2vec.trainer import Told
from malmoi.vectors import Vectors


@dataclass(frozen=True, kw_only=True)
class Word2Vec(WordSettings):
    """How words become vectors of `dim` numbers; see `WordSettings`."""


def train_word2vec(
    text: Text,
    settings: Word2Vec | None = None,
    *,
    tokenizer: Tokenizer | str | None = None,
    start: Vectors | None = None,
    frozen: bool = False,
    update: bool = False,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    progress: Progress = no_progress,
    on_loss: Told = lambda loss: None,
    tell_memory: Telling = unheard,
) -> Vectors:
    """Vectors of the words of a text.

    Words found in `start` begin with the vectors given there, and keep them if `frozen`; to
    `update` is to keep all its other words too. `checkpoint` is written every minute and when
    interrupted; from there `resume` goes on. It is left for whoever has the vectors safe to
    discard. Progress is told in words, and with it the mean loss of a pair.
    """
    settings = settings or Word2Vec()
    given = TrainOptions(
        start=start,
        frozen=frozen,
        update=update,
        checkpoint=checkpoint,
        resume=resume,
        progress=progress,
        on_loss=on_loss,
        tell_memory=tell_memory,
    )
    corpus = as_encoded(text, settings.choice, tokenizer)
    trained = train_network(corpus, settings, lambda keys: own_rows(len(keys)), given)
    vocabulary = trained.corpus.vocabulary
    return Vectors(
        vocabulary.words, trained.inputs, vocabulary.counts, trained.meta, trained.output
    )
