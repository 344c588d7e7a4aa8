"""An encoded corpus: the token ids of a text, on disk, memory-mapped.

Text is read, normalized and tokenized once; the ids are cached under a fingerprint of the text and
the settings, so that further epochs and further models do not read the text again.
"""

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np

from malmoi.arguments import check_numbers, expect, settings_or_default
from malmoi.arrays import Int64Array, UInt8Array, UInt32Array
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.cache_folder import cache_folder
from malmoi.files.key_tensors import keys_as_tensors, keys_from_tensors
from malmoi.files.source import InputFile
from malmoi.files.tensor_file import FileKind, read_tensor_file, write_tensor_file
from malmoi.files.tensors import check_tensors, invalid_file_on_error
from malmoi.kernels.marks import UNKNOWN
from malmoi.keys import Keys
from malmoi.reporting.reporter import (
    DEFAULT_REPORTER,
    Progress,
    Reporter,
    SilentReporter,
    expect_reporter,
)
from malmoi.text.corpus import Corpus
from malmoi.text.parallel import in_order
from malmoi.text.tokenizers import Tokenizer, Whitespace, describe
from malmoi.text.word_table import WordTable, read_blocks
from malmoi.vocabulary import Vocabulary

VERSION = "2"
KIND = FileKind("corpus", "an encoded corpus", VERSION, former=(("corpus", "1"),))
CHECK_CHUNK_IDS = 1 << 20  # checked at a time
STALE_AFTER = 30 * 24 * 3600  # seconds since a cached corpus was last opened


@dataclass(frozen=True, kw_only=True)
class VocabularySettings:
    """Which words of a corpus enter the vocabulary.

    Those seen at least `min_count` times, at most `max_vocab_size` of them; `special` ones come
    first, seen or not. `held` bounds how many different words are held while counting.
    """

    min_count: int = 1
    max_vocab_size: int | None = None
    held: int | None = None
    special: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_numbers(self)
        most = self.max_vocab_size
        if self.min_count < 1 or (most is not None and most < 1):
            raise InvalidArgumentError(
                f"min_count is {self.min_count} and max_vocab_size {most}: both must be at least 1"
            )


@dataclass(frozen=True)
class EncodedCorpus:
    """A corpus as token ids.

    Args:
        ids: uint32 [tokens and line ends]: the id of each token, 4294967294 for an unknown word,
            4294967295 for the end of a line.
        vocabulary: The words of the ids.
        tokenizer: The description of the tokenizer, as JSON.

    Raises:
        InvalidArgumentError: `ids` are not uint32, or exceed the vocabulary.
    """

    ids: UInt32Array
    vocabulary: Vocabulary
    tokenizer: str = field(default_factory=lambda: describe(Whitespace()))

    def __post_init__(self) -> None:
        check_ids(self.ids, len(self.vocabulary))

    def __repr__(self) -> str:
        return f"EncodedCorpus({len(self.ids):,} ids of {self.vocabulary!r})"


def check_ids(ids: UInt32Array, words: int) -> None:
    """Raise `InvalidArgumentError` for ids beyond the vocabulary: trainers index rows by them."""
    if not isinstance(ids, np.ndarray) or ids.dtype != np.uint32 or ids.ndim != 1:
        shown = f"{ids.dtype} {list(ids.shape)}" if isinstance(ids, np.ndarray) else type(ids)
        raise InvalidArgumentError(
            f"the ids are {shown}: give an array of uint32 with one dimension"
        )
    for first in range(0, len(ids), CHECK_CHUNK_IDS):
        chunk = ids[first : first + CHECK_CHUNK_IDS]
        invalid = chunk[(chunk >= words) & (chunk < UNKNOWN)]
        if len(invalid):
            raise InvalidArgumentError(
                f"id {invalid[0]:,} is in the text, but there are {words:,} words"
            )


def encode_corpus(
    corpus: Corpus,
    tokenizer: Tokenizer | None = None,
    settings: VocabularySettings | None = None,
    *,
    folder: Path | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> EncodedCorpus:
    """Encode a corpus as token ids, or open it if it was encoded before.

    Args:
        corpus: The documents.
        tokenizer: How to split them into tokens; by default at white space.
        settings: Which words enter the vocabulary; by default all.
        folder: Where to store the ids; by default the user's cache, from which corpora that were
            not opened for a month are removed.
        reporter: Receives progress and warnings.

    Returns:
        The ids, memory-mapped, and the vocabulary.

    Raises:
        InvalidFileError: The corpus is empty, a file cannot be read, or the cache cannot be
            written.
        InvalidArgumentError: No word occurs `min_count` times.
    """
    expect_reporter(reporter)
    expect(corpus, Corpus, "corpus", "a Corpus", hint="Corpus.of(…) makes one of files or texts")
    tokenizer = Whitespace() if tokenizer is None else tokenizer
    settings = settings_or_default(settings, VocabularySettings)
    name = hashlib.blake2b(
        f"{VERSION} {corpus.fingerprint()} {describe(tokenizer)} {settings!r}".encode(),
        digest_size=16,
    ).hexdigest()
    path = (folder or cache_folder("corpora")) / f"{name}.corpus"
    with suppress(InvalidFileError):  # missing or damaged: it is encoded below
        encoded = open_encoded(path, reporter)
        with suppress(OSError):  # a shared cache may belong to another user
            os.utime(path)
        return encoded
    if folder is None:
        remove_stale(path.parent)
    recorder = WarningRecorder(reporter)
    with scratch_file(path.parent) as ids_file:
        vocabulary = write_ids(corpus, tokenizer, settings, ids_file, recorder)
        metadata = {
            "tokenizer": describe(tokenizer),
            "settings": repr(asdict(settings)),
            "warnings": json.dumps(recorder.sentences, ensure_ascii=False),
        }
        words = keys_as_tensors(vocabulary.words)
        tensors = words | {"ids": map_ids(ids_file), "counts": vocabulary.counts}
        write_tensor_file(path, KIND, tensors, metadata)
    return open_encoded(path, reporter)


class WarningRecorder(Reporter):
    """Records warnings, which are stored with the corpus; passes progress on to `target`."""

    def __init__(self, target: Reporter) -> None:
        self.target, self.sentences = target, list[str]()

    def stage(self, name: str, unit: str = "") -> Progress:
        """Begin a stage of `target`."""
        return self.target.stage(name, unit)

    def warn(self, sentence: str) -> None:
        """Record a warning."""
        self.sentences.append(sentence)


def remove_stale(folder: Path) -> None:
    """Remove corpora that were not opened for a month; mapped ones stay readable."""
    for path in folder.glob("*.corpus"):
        with suppress(OSError):  # another process may have removed it
            if time.time() - path.stat().st_mtime > STALE_AFTER:
                path.unlink()


@contextmanager
def scratch_file(folder: Path) -> Iterator[BinaryIO]:
    """An unnamed temporary file in a folder; errors suggest another folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            yield file
    except OSError as error:  # readers raise their own InvalidFileError
        raise InvalidFileError(
            f"cannot write the encoded-corpus cache to {folder} ({error.strerror or error}):"
            " name another folder in MALMOI_CACHE"
        ) from error


def write_ids(
    corpus: Corpus,
    tokenizer: Tokenizer,
    settings: VocabularySettings,
    out: BinaryIO,
    reporter: Reporter,
) -> Vocabulary:
    """Write the ids of a corpus: in one pass, or in two if rare words are dropped on the way."""
    if settings.held is None:
        blocks = corpus.blocks(reporter.stage(f"reading {corpus.name}"), reporter)
        read = read_blocks(tokenize_blocks(blocks, tokenizer), ids_out=out)
        vocabulary = select_vocabulary(read.total.keys, read.total.counts, settings)
        read.renumber(map_ids(out), vocabulary.words)
        return vocabulary
    vocabulary = count_corpus(corpus, tokenizer, settings, reporter=reporter)
    table = WordTable.of(vocabulary.words)
    blocks = corpus.blocks(reporter.stage(f"reading {corpus.name}"), SilentReporter())
    for ids in in_order(table.encode, tokenize_blocks(blocks, tokenizer)):
        out.write(ids.data)
    return vocabulary


def count_corpus(
    corpus: Corpus,
    tokenizer: Tokenizer,
    settings: VocabularySettings,
    *,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Vocabulary:
    """Count the words of a corpus.

    Args:
        corpus: The documents.
        tokenizer: How to split them into tokens.
        settings: Which words enter the vocabulary.
        reporter: Receives progress and warnings.

    Returns:
        The vocabulary.

    Raises:
        InvalidFileError: The corpus is empty, or a file cannot be read.
        InvalidArgumentError: No word occurs `min_count` times.

    Example:
        corpus = mm.Corpus.of(["the bank of the river", "the bank vault"])
        words = mm.make_tokenizer("english")
        counts = mm.count_corpus(corpus, words, mm.VocabularySettings(min_count=2))
        list(counts.words)  # ['the', 'bank']
    """
    expect_reporter(reporter)
    expect(corpus, Corpus, "corpus", "a Corpus", hint="Corpus.of(…) makes one of files or texts")
    describe(tokenizer)  # raises for what is not a tokenizer
    settings = settings_or_default(settings, VocabularySettings)
    progress = reporter.stage(f"counting {corpus.name}")
    blocks = tokenize_blocks(corpus.blocks(progress, reporter), tokenizer)
    table = read_blocks(blocks, max_words=settings.held).total
    return select_vocabulary(table.keys, table.counts, settings)


def select_vocabulary(words: Keys, counts: Int64Array, settings: VocabularySettings) -> Vocabulary:
    """The vocabulary that the settings select from all words of a corpus."""
    if not counts.any():
        raise InvalidFileError("the corpus is empty: it does not contain a single word")
    vocabulary = Vocabulary.chosen(
        words,
        counts,
        min_count=settings.min_count,
        size=settings.max_vocab_size,
        special=settings.special,
    )
    if len(vocabulary) == len(settings.special):
        raise InvalidArgumentError(
            f"no word occurs {settings.min_count:,} times: the most frequent one occurs"
            f" {int(counts.max()):,} times, so set min_count to that or less"
        )
    return vocabulary


def tokenize_blocks(blocks: Iterable[UInt8Array], tokenizer: Tokenizer) -> Iterator[UInt8Array]:
    """Blocks in which a space separates the tokens of each line."""
    for block in blocks:
        if not isinstance(tokenizer, Whitespace):
            lines = block.tobytes().decode("utf-8").removesuffix("\n").split("\n")
            text = "\n".join(" ".join(tokens) for tokens in tokenizer.many(lines)) + "\n"
            block = np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8)
        yield block


def map_ids(file: BinaryIO) -> UInt32Array:
    """The ids in a file, mapped for reading and writing."""
    file.flush()
    return np.memmap(file, dtype=np.uint32, mode="r+")


def open_encoded(path: Path, reporter: Reporter = DEFAULT_REPORTER) -> EncodedCorpus:
    """Map a corpus that was encoded before; the warnings of that time are reported again."""
    tensors, metadata = read_tensor_file(InputFile(path), KIND)
    with invalid_file_on_error(path):
        check_tensors(tensors, 1, ids="<u4", counts="<i8")
        vocabulary = Vocabulary(keys_from_tensors(tensors), tensors["counts"])
        encoded = EncodedCorpus(tensors["ids"], vocabulary, metadata["tokenizer"])
        sentences = [str(sentence) for sentence in json.loads(metadata.get("warnings", "[]"))]
    for sentence in sentences:
        reporter.warn(sentence)
    return encoded
