"""Reads a corpus by shards, in any processes, and merges what they read into one.

The result is that of one process, bit by bit: a word's id depends on its count and its bytes
alone. Knows nothing about where the shards are read.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from typing import BinaryIO

import numpy as np

from malmoi.arrays import Int64Array, UInt32Array
from malmoi.keys import Keys
from malmoi.reporting.reporter import SilentReporter, no_progress
from malmoi.text.corpus import Corpus
from malmoi.text.encoded import (
    EncodedCorpus,
    VocabularySettings,
    WarningRecorder,
    map_ids,
    select_vocabulary,
    tokenize_blocks,
)
from malmoi.text.tokenizers import Tokenizer, describe
from malmoi.text.word_table import ReadText, WordTable, read_blocks
from malmoi.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class ReadShard:
    """The words of a shard with their counts, and its ids, which are rows of these words."""

    words: Keys
    counts: Int64Array
    ids: UInt32Array
    warnings: tuple[str, ...] = ()


def read_corpus_shard(corpus: Corpus, tokenizer: Tokenizer, *, ids: bool) -> ReadShard:
    """Read one shard: count its words, and with `ids` encode it."""
    recorder, stream = WarningRecorder(SilentReporter()), BytesIO()
    blocks = tokenize_blocks(corpus.blocks(no_progress, recorder), tokenizer)
    read = read_blocks(blocks, ids_out=stream if ids else None)
    words = read.total.keys
    numbers = np.frombuffer(stream.getvalue(), np.uint32).copy()
    if ids:
        read.renumber(numbers, words)
    return ReadShard(words, read.total.counts.copy(), numbers, tuple(recorder.sentences))


def merge_words(shards: Iterable[ReadShard], settings: VocabularySettings) -> Vocabulary:
    """The vocabulary of all shards.

    Raises:
        InvalidFileError: There is not a single word.
        InvalidArgumentError: No word occurs `min_count` times.
    """
    total = WordTable()
    for shard in shards:
        total.add(WordTable.of(shard.words, shard.counts))
    return select_vocabulary(total.keys, total.counts, settings)


def merge_ids(
    shards: Iterable[ReadShard],
    settings: VocabularySettings,
    tokenizer: Tokenizer,
    file: BinaryIO,
) -> EncodedCorpus:
    """The encoded corpus of shards in their order; its ids are in an open file."""
    tables, spans = list[WordTable](), list[tuple[int, int]]()
    for number, shard in enumerate(shards):
        file.write(shard.ids.data)
        tables.append(WordTable.of(shard.words, shard.counts))
        spans.append((number, len(shard.ids)))
    read = ReadText(tuple(tables), tuple(spans))
    vocabulary = select_vocabulary(read.total.keys, read.total.counts, settings)
    ids = map_ids(file)
    read.renumber(ids, vocabulary.words)
    return EncodedCorpus(ids, vocabulary, describe(tokenizer))
