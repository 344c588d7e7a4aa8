"""GloVe: word vectors whose products are near the logarithms of how often words meet.

Pennington, Socher, Manning: GloVe: Global Vectors for Word Representation (EMNLP 2014), with the
update rule of their program.
"""

from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from malmoi.errors import InvalidArgumentError, warn
from malmoi.files.checkpoint import Checkpointer, RunFingerprint
from malmoi.kernels.threads import THREADS
from malmoi.models.cooccurrences import Cooccurrences, is_cooccurrences, load_cooccurrences
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.text.encoded import VocabularySettings
from malmoi.text.tokenizers import Tokenizer
from malmoi.train.common.inputs import Text, as_encoded
from malmoi.train.common.memory import Telling, require_memory, unheard
from malmoi.train.counts.cooccurrence import Cooccurrence, count_cooccurrences
from malmoi.train.glove.merge_vectors import joined
from malmoi.train.glove.records import make_records
from malmoi.train.glove.tables import (
    GloVeTables,
    Kind,
    begin_from,
    keep_rows,
    random_tables,
    row_bytes,
    taken_apart,
)
from malmoi.train.glove.trainer import GloVeTrainer, Told, memory_of_learning
from malmoi.train.word2vec.initialization import origin_of
from malmoi.vectors import Vectors

Logarithm = Literal["x", "1+x"]
MOST_ITERATIONS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class GloVe:
    """How words become vectors of `dim` numbers.

    Words within `window` of each other meet, and count 1 / distance. A pair counts in full from
    `x_max` on and below it (x / x_max) ** `alpha`; for small corpora an `x_max` of 10 is often
    better. Its `logarithm` may be that of `1+x`, so that rare pairs are not below 0. The result
    is the `sum` of a word's two vectors, its own (`word`), that of it as a `context`, or `both`
    end to end. The same seed gives the same vectors, bit for bit, on one of `threads`.
    `window`, `min_count`, `size` and `memory_mb` say how text is counted.
    """

    dim: int = 100
    """Numbers in a vector."""
    window: int = 10
    """How many words away is still beside."""
    min_count: int = 5
    """Only words seen so often."""
    size: int | None = None
    """Only so many of the most frequent words."""
    x_max: float = 100.0
    """Pairs that meet so often count in full; 10 is often better for small corpora."""
    alpha: float = 0.75
    """Rarer ones by their share of that, to this power."""
    learning_rate: float = 0.05
    """Of AdaGrad, which lowers it by itself."""
    iterations: int = 25
    """How often all pairs are learnt."""
    vectors: Kind = "sum"
    """A word's own vectors, those of it as a context, their sum, or both end to end."""
    logarithm: Logarithm = "x"
    """Of a count, or of one more."""
    memory_mb: float = 2048
    """For counting, in megabytes."""
    seed: int = 1
    """Same seed, one thread: same vectors."""
    threads: int = THREADS
    """How many work at once."""

    def __post_init__(self) -> None:
        for name in ("dim", "iterations", "threads"):
            if getattr(self, name) < 1:
                raise InvalidArgumentError(f"{name} is {getattr(self, name)}: it is at least 1")
        if self.iterations > MOST_ITERATIONS:
            raise InvalidArgumentError(
                f"iterations is {self.iterations}: it is at most {MOST_ITERATIONS:,}"
            )
        for name in ("x_max", "learning_rate"):
            if not 0 < getattr(self, name) < inf:
                raise InvalidArgumentError(
                    f"{name} is {getattr(self, name)}: give a number above 0"
                )
        if not 0 <= self.alpha < inf:
            raise InvalidArgumentError(f"alpha is {self.alpha}: give a number, 0 or above")
        if self.vectors not in get_args(Kind):
            raise InvalidArgumentError(
                f"'{self.vectors}' are no vectors: choose sum, word, context or both"
            )
        if self.logarithm not in get_args(Logarithm):
            raise InvalidArgumentError(
                f"'{self.logarithm}' is no logarithm: choose that of x or 1+x"
            )
        if self.seed < 0:
            raise InvalidArgumentError(f"seed is {self.seed}: it is at least 0")
        _ = self.counting, self.choice  # they check what is theirs

    @property
    def counting(self) -> Cooccurrence:
        """How text is counted."""
        return Cooccurrence(window=self.window, memory_mb=self.memory_mb)

    @property
    def choice(self) -> VocabularySettings:
        """Which words are taken from text."""
        return VocabularySettings(min_count=self.min_count, size=self.size)


def train_glove(
    text: Text | Cooccurrences,
    settings: GloVe | None = None,
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
    """Vectors of the words of a text, or of co-occurrences that were counted before.

    Words found in `start` begin with the vectors given there, and keep them if `frozen`. An
    `update` is of all words of `start`: those that the text does not have stay as they are.
    `checkpoint` is written every minute and when interrupted; from there `resume` goes on. It
    is left for whoever has the vectors safe to discard. Progress is told in records learnt,
    out of those of all iterations, and after each of these the loss: J for each record.
    """
    settings = settings or GloVe()
    if start is None and (frozen or update):
        wanted = "freeze" if frozen else "go on with"
        raise InvalidArgumentError(f"there is nothing to {wanted}: give vectors to start from")
    counts, cut = counted(text, settings, tokenizer)
    tables = train_glove_tables(
        counts,
        settings,
        start=start,
        frozen=frozen,
        checkpoint=checkpoint,
        resume=resume,
        progress=progress,
        on_loss=on_loss,
        tell_memory=tell_memory,
    )
    vectors = tables.vectors(settings.vectors)
    if start is not None and frozen:
        keep_rows(vectors, start)
    if start is not None and update:
        vectors = joined(vectors, start)
    return vectors.with_meta(tokenizer=cut) if cut else vectors


def train_glove_tables(
    counts: Cooccurrences,
    settings: GloVe | None = None,
    *,
    start: Vectors | None = None,
    frozen: bool = False,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    progress: Progress = no_progress,
    on_loss: Told = lambda loss: None,
    tell_memory: Telling = unheard,
) -> GloVeTables:
    """The same, but all that is learnt: the vectors of words and contexts, and their biases."""
    settings = settings or GloVe()
    refuse_misfits(counts, settings, start)
    require_memory(memory_of_learning(counts, settings.dim), tell_memory)
    training = RunFingerprint.of(settings, counts.values, counts.vocabulary)
    place = None if checkpoint is None else Path(checkpoint)
    keeper = Checkpointer(place, origin_of(training, start, frozen), resume=resume)
    records = make_records(
        counts,
        settings.x_max,
        settings.alpha,
        plus_one=settings.logarithm == "1+x",
        row_bytes=row_bytes(settings.dim),
    )
    sides = random_tables(len(counts.vocabulary), settings.dim, settings.seed)
    if start is not None:
        begin_from(start, sides, counts, settings.vectors, frozen=frozen)
    learning = GloVeTrainer(
        records,
        sides,
        rate=settings.learning_rate,
        iterations=settings.iterations,
        seed=settings.seed,
    )
    if keeper.restored is not None:
        learning.restore(keeper.restored)
    learning.run(settings.threads, keeper, progress, on_loss)
    return taken_apart(sides, counts.vocabulary, settings.dim, learning.mean_losses())


def counted(
    text: Text | Cooccurrences, settings: GloVe, tokenizer: Tokenizer | str | None = None
) -> tuple[Cooccurrences, str]:
    """Co-occurrences, new or as they were saved, and how the text was cut, where that is known."""
    if isinstance(text, Cooccurrences):
        return text, ""
    if isinstance(text, str | Path) and is_cooccurrences(text):
        return load_cooccurrences(text), ""
    encoded = as_encoded(text, settings.choice, tokenizer)
    counts = count_cooccurrences(encoded.ids, encoded.vocabulary, settings.counting)
    return counts, encoded.tokenizer


def refuse_misfits(counts: Cooccurrences, settings: GloVe, start: Vectors | None) -> None:
    """What cannot be learnt is an error; what is not learnt is told."""
    if len(counts.vocabulary) < 2 or not len(counts):
        raise InvalidArgumentError(
            f"there is nothing to learn: of {len(counts.vocabulary):,} words none stands beside"
            " another; give more text, or lower min_count"
        )
    dim = settings.dim * (2 if settings.vectors == "both" else 1)
    if start is not None and start.dim != dim:
        raise InvalidArgumentError(
            f"the vectors to start from have {start.dim} numbers and the new ones {dim}:"
            " choose the dim that fits"
        )
    lonely = np.diff(counts.starts) == 0
    if lonely.any() and (lonely := lonely & (counts.context_totals == 0)).any():
        warn(
            f"words that stand beside no other, whose vectors stay as they begin: {lonely.sum():,}"
        )
