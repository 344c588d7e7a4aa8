"""Counts by shards on a Ray cluster: words, co-occurrences and n-grams, bit-equal to one process.

Workers read and tokenize shards of the corpus. N-grams are counted by parts of lines and merged;
co-occurrences by ranges of words, since sums of fractions depend on their order.
"""

import math
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

from malmoi.arguments import settings_or_default
from malmoi.arrays import Int64Array, UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.models.cooccurrences import Cooccurrences, spans
from malmoi.models.ngram_counts import NgramCounts
from malmoi.models.ngram_model import NgramModel
from malmoi.models.trie import Trie
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter, no_progress
from malmoi.scale.cluster.engines import LOCAL, Shared, WorkEngine
from malmoi.scale.cluster.opening import check_on, open_cluster
from malmoi.scale.worker import limit_threads
from malmoi.text.corpus import Corpus
from malmoi.text.encoded import EncodedCorpus, VocabularySettings, count_corpus
from malmoi.text.shards import ReadShard, merge_ids, merge_words, read_corpus_shard
from malmoi.text.tokenizers import Tokenizer, Whitespace, describe, make_tokenizer, tokenizer_from
from malmoi.train.common.inputs import TextInput
from malmoi.train.counts import cooccurrence
from malmoi.train.counts.cooccurrence import Cooccurrence, RowBlock
from malmoi.train.language import ngram
from malmoi.train.language.merge_counts import merge_ngram_counts, split_lines
from malmoi.train.language.ngram import NGram, estimate
from malmoi.train.language.sentence_counts import count_lines, frequent_ids
from malmoi.vocabulary import Vocabulary

SHARD_BYTES = 64 << 20  # of a corpus, at most where files can be split
SHARDS_PER_CPU = 4  # so that workers end at about the same time


def count_words(
    text: TextInput,
    settings: VocabularySettings | None = None,
    *,
    tokenizer: Tokenizer | str | None = None,
    on: str = LOCAL,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Vocabulary:
    """Count the words of a text, in this process or on a cluster: the same vocabulary.

    Args:
        text: Path of a file or folder, which all nodes see; documents; or a `Corpus`.
        settings: Which words enter the vocabulary; by default all.
        tokenizer: A tokenizer or its name; splits at white space if not given.
        on: `local`, `ray`, or the address of a cluster: `ray://host:port`.
        reporter: Receives progress and warnings.

    Returns:
        The vocabulary.

    Raises:
        InvalidArgumentError: No word is frequent enough, or the cluster cannot run the work.
        InvalidFileError: The text is empty or cannot be read.
        MissingDependencyError: Ray is not installed.
    """
    expect_reporter(reporter)
    check_on(on)
    settings = settings_or_default(settings, VocabularySettings)
    corpus, tokenize = _corpus(text), _tokenizer(tokenizer)
    if on == LOCAL:
        return count_corpus(corpus, tokenize, settings, reporter=reporter)
    if settings.held is not None:
        raise InvalidArgumentError(
            f"held is {settings.held:,}: shards that drop rare words do not add up; leave it out"
        )
    with open_cluster(on, reporter) as cluster:
        shards = read_shards(cluster, corpus, tokenize, ids=False, reporter=reporter)
        return merge_words((shard for _, shard in shards), settings)


def count_cooccurrences(
    text: TextInput,
    settings: Cooccurrence | None = None,
    *,
    tokenizer: Tokenizer | str | None = None,
    on: str = LOCAL,
    folder: str | Path | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Cooccurrences:
    """Count how often words occur together, in this process or on a cluster: the same counts.

    Args:
        text: Path of a file or folder, which all nodes see; documents; a `Corpus` or an
            `EncodedCorpus`.
        settings: How to count; the defaults of `Cooccurrence` if not given.
        tokenizer: A tokenizer or its name; splits at white space if not given.
        on: `local`, `ray`, or the address of a cluster: `ray://host:port`.
        folder: Folder of this machine for temporary files.
        reporter: Receives progress and warnings.

    Returns:
        A sparse matrix of words by context words.

    Raises:
        InvalidArgumentError: The memory is too small, or the cluster cannot run the work.
        InvalidFileError: The text cannot be read, or temporary files cannot be written.
        MissingDependencyError: Ray is not installed.
    """
    expect_reporter(reporter)
    check_on(on)
    settings = settings_or_default(settings, Cooccurrence)
    if on == LOCAL:
        return cooccurrence.count_cooccurrences(
            text, settings, tokenizer=tokenizer, folder=folder, reporter=reporter
        )
    with open_cluster(on, reporter) as cluster:
        corpus = encode_shards(cluster, text, settings.vocabulary, tokenizer, reporter)
        return count_cooccurrences_by(cluster, corpus, settings, folder, reporter)


def train_ngram(
    text: TextInput,
    settings: NGram | None = None,
    *,
    tokenizer: Tokenizer | str | None = None,
    on: str = LOCAL,
    reporter: Reporter = DEFAULT_REPORTER,
) -> NgramModel:
    """Train an n-gram language model; its counts come from this process or from a cluster.

    Args:
        text: Path of a file or folder, which all nodes see; sentences; a `Corpus` or an
            `EncodedCorpus`.
        settings: Order and smoothing; the defaults of `NGram` if not given.
        tokenizer: A tokenizer or its name; splits at white space if not given.
        on: `local`, `ray`, or the address of a cluster: `ray://host:port`.
        reporter: Receives progress and warnings.

    Returns:
        The model; the same one, wherever it was counted.

    Raises:
        InvalidArgumentError: No word is frequent enough, or the cluster cannot run the work.
        InvalidFileError: The text cannot be read.
        MissingDependencyError: Ray is not installed.
    """
    expect_reporter(reporter)
    check_on(on)
    settings = settings_or_default(settings, NGram)
    if on == LOCAL:
        return ngram.train_ngram(text, settings, tokenizer=tokenizer, reporter=reporter)
    with open_cluster(on, reporter) as cluster:
        corpus = encode_shards(cluster, text, VocabularySettings(), tokenizer, reporter)
        counts = count_ngrams_by(cluster, corpus, settings.order, settings.min_count, reporter)
    return estimate(counts, settings, reporter)


def read_shards(
    engine: WorkEngine, corpus: Corpus, tokenizer: Tokenizer, *, ids: bool, reporter: Reporter
) -> Iterator[tuple[int, ReadShard]]:
    """The shards of a corpus as the workers of an engine read them, in any order."""
    size = corpus.progress_total if corpus.documents is None else 0
    shards = corpus.shards(max(_parts(engine), math.ceil(size / SHARD_BYTES)))
    worker = ShardReader(describe(tokenizer), ids)
    progress, sentences = reporter.stage(f"counting {corpus.name}"), set[str]()
    names = [shard.name for shard in shards]
    for done, (position, shard) in enumerate(engine.map(worker, shards, names=names), 1):
        yield position, shard
        for sentence in set(shard.warnings) - sentences:
            sentences.add(sentence)
            reporter.warn(sentence)
        progress(done, len(shards))


def encode_shards(
    engine: WorkEngine,
    text: TextInput,
    settings: VocabularySettings,
    tokenizer: Tokenizer | str | None,
    reporter: Reporter,
) -> EncodedCorpus:
    """Encode a text by shards; the ids are in a temporary file, mapped."""
    if isinstance(text, EncodedCorpus):
        return text
    tokenize = _tokenizer(tokenizer)
    shards = read_shards(engine, _corpus(text), tokenize, ids=True, reporter=reporter)
    with TemporaryFile() as file:
        return merge_ids(_ordered(shards), settings, tokenize, file)


def count_cooccurrences_by(
    engine: WorkEngine,
    corpus: EncodedCorpus,
    settings: Cooccurrence,
    folder: str | Path | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Cooccurrences:
    """Count co-occurrences by ranges of words with about as many occurrences each."""
    ids, counts = cooccurrence.prepare_ids(corpus, settings, folder)
    dtype = cooccurrence.position_dtype(ids)
    max_positions, _ = cooccurrence.memory_limits(counts, dtype, settings)
    each = math.ceil(int(counts.sum()) / _parts(engine))
    ranges = list(spans(counts, max(1, min(max_positions, each))))
    worker = RowCounter(engine.share(ids), counts, settings)
    blocks = (block for some in _ordered(engine.map(worker, ranges)) for block in some)
    progress = reporter.stage("counting co-occurrences")
    return cooccurrence.collect_rows(corpus.vocabulary, blocks, folder, progress)


def count_ngrams_by(
    engine: WorkEngine,
    corpus: EncodedCorpus,
    order: int,
    min_count: int,
    reporter: Reporter = DEFAULT_REPORTER,
) -> NgramCounts:
    """Count n-grams by parts of lines, and merge the counts."""
    ids, single = frequent_ids(corpus, order, min_count)
    bounds = split_lines(ids, _parts(engine))
    worker = NgramCounter(engine.share(ids), single, order)
    progress, done = reporter.stage("counting n-grams"), 0

    def parts() -> Iterator[NgramCounts]:
        nonlocal done
        for _, counts in engine.map(worker, bounds):
            done += 1
            progress(done, len(bounds))
            yield counts

    return merge_ngram_counts(parts())


@dataclass(frozen=True)
class ShardReader:
    """Makes the function that reads a shard of a corpus."""

    tokenizer: str
    ids: bool

    def __call__(self, threads: int | None = None) -> Callable[[Corpus], ReadShard]:
        """Make the tokenizer, which may have to load a dictionary."""
        limit_threads(threads)
        tokenizer = tokenizer_from(self.tokenizer)
        return lambda corpus: read_corpus_shard(corpus, tokenizer, ids=self.ids)


@dataclass(frozen=True, eq=False)
class RowCounter:
    """Makes the function that counts the contexts of a range of words."""

    ids: "Shared[UInt32Array]"
    counts: Int64Array
    settings: Cooccurrence

    def __call__(self, threads: int | None = None) -> Callable[[tuple[int, int]], list[RowBlock]]:
        """Map the ids."""
        limit_threads(threads)
        ids = self.ids.get()
        return lambda span: list(cooccurrence.count_span(ids, self.counts, self.settings, span))


@dataclass(frozen=True, eq=False)
class NgramCounter:
    """Makes the function that counts the n-grams of some lines."""

    ids: "Shared[UInt32Array]"
    single: Trie
    order: int

    def __call__(self, threads: int | None = None) -> Callable[[tuple[int, int]], NgramCounts]:
        """Map the ids."""
        ids = self.ids.get()
        return lambda span: count_lines(
            ids[span[0] : span[1]], self.single, self.order, progress=no_progress
        )


def _ordered(results: Iterator[tuple[int, Any]]) -> Iterator[Any]:
    """The results in the order of their positions; those that come early wait on disk."""
    with TemporaryDirectory(prefix="malmoi-") as folder:
        following, waiting = 0, set[int]()
        for position, result in results:
            if position != following:
                Path(folder, str(position)).write_bytes(pickle.dumps(result))
                waiting.add(position)
                continue
            yield result
            following += 1
            while following in waiting:
                path = Path(folder, str(following))
                yield pickle.loads(path.read_bytes())
                path.unlink()
                following += 1


def _parts(engine: WorkEngine) -> int:
    return SHARDS_PER_CPU * max(1, int(sum(engine.cpus().values())))


def _corpus(text: TextInput | Sequence[str]) -> Corpus:
    if isinstance(text, EncodedCorpus):
        raise InvalidArgumentError("the text is encoded already: its vocabulary has the counts")
    return text if isinstance(text, Corpus) else Corpus.of(text)


def _tokenizer(tokenizer: Tokenizer | str | None) -> Tokenizer:
    if tokenizer is None:
        return Whitespace()
    return make_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
