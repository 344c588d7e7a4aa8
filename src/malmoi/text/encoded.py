"""A corpus as numbers: every word its id in a vocabulary, on disk, memory-mapped.

Text is read, made uniform and cut once; what comes of it is kept under a fingerprint of the
text and the settings, so that further epochs and further models cost nothing.
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

from malmoi.arrays import UInt8Array, UInt32Array
from malmoi.errors import InvalidArgumentError, InvalidFileError, warn
from malmoi.files.cache_folder import cache_folder
from malmoi.files.key_tensors import keys_as_tensors, keys_from_tensors
from malmoi.files.source import InputFile
from malmoi.files.tensor_file import Kind, read_tensor_file, write_tensor_file
from malmoi.files.tensors import damage, expect
from malmoi.kernels.marks import UNKNOWN
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.text.corpus import Corpus, Note
from malmoi.text.parallel import in_order
from malmoi.text.tokenizers import Tokenizer, Whitespace, describe
from malmoi.text.word_table import WordTable, read_blocks
from malmoi.vocabulary import Vocabulary

VERSION = "1"
KIND = Kind("corpus", "an encoded corpus", VERSION, former=(("corpus", VERSION),))
CHECKED = 1 << 20  # ids looked through at a time
FORGOTTEN = 30 * 24 * 3600  # seconds since a corpus was opened last


@dataclass(frozen=True, kw_only=True)
class VocabularySettings:
    """Which words a vocabulary takes.

    Those seen at least `min_count` times, at most `max_vocab_size` of them; `special` ones come
    first, seen or not. `held` bounds how many different words are held while counting.
    """

    min_count: int = 1
    max_vocab_size: int | None = None
    held: int | None = None
    special: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        most = self.max_vocab_size
        if self.min_count < 1 or (most is not None and most < 1):
            raise InvalidArgumentError(
                f"min_count is {self.min_count} and max_vocab_size {most}: both must be at least 1"
            )


@dataclass(frozen=True)
class EncodedCorpus:
    """`ids` [tokens and line ends], with marks for unknown words and the ends of lines."""

    ids: UInt32Array
    vocabulary: Vocabulary
    tokenizer: str = field(default_factory=lambda: describe(Whitespace()))

    def __post_init__(self) -> None:
        check_ids(self.ids, len(self.vocabulary))

    def __repr__(self) -> str:
        return f"EncodedCorpus({len(self.ids):,} ids of {self.vocabulary!r})"


def check_ids(ids: UInt32Array, words: int) -> None:
    """Refuse a stream of ids, some of which no word has: trainings index their rows by them."""
    if not isinstance(ids, np.ndarray) or ids.dtype != np.uint32 or ids.ndim != 1:
        kind = f"{ids.dtype} {list(ids.shape)}" if isinstance(ids, np.ndarray) else type(ids)
        raise InvalidArgumentError(
            f"the ids are {kind}: give an array of uint32 with one dimension"
        )
    for first in range(0, len(ids), CHECKED):
        part = ids[first : first + CHECKED]
        beyond = part[(part >= words) & (part < UNKNOWN)]
        if len(beyond):
            raise InvalidArgumentError(
                f"id {beyond[0]:,} is in the text, but there are {words:,} words"
            )


def encode_corpus(
    corpus: Corpus,
    tokenizer: Tokenizer | None = None,
    choice: VocabularySettings | None = None,
    *,
    folder: Path | None = None,
    progress: Progress = no_progress,
) -> EncodedCorpus:
    """The corpus as ids, from `folder` (the user's cache) if it was encoded before.

    In the user's cache, what nobody has opened for a month makes room for something new.
    """
    cut, chosen = tokenizer or Whitespace(), choice or VocabularySettings()
    name = hashlib.blake2b(
        f"{VERSION} {corpus.fingerprint()} {describe(cut)} {chosen!r}".encode(), digest_size=16
    ).hexdigest()
    place = (folder or cache_folder("corpora")) / f"{name}.corpus"
    with suppress(InvalidFileError):  # not there yet, or damaged: then it is made
        found = open_encoded(place)
        with suppress(OSError):  # a cache that is shared may belong to somebody else
            os.utime(place)
        return found
    if folder is None:
        forget_old(place.parent)
    notes: list[str] = []
    with room_beside(place) as numbers:
        vocabulary = number_corpus(corpus, cut, chosen, numbers, progress, notes.append)
        metadata = {
            "tokenizer": describe(cut),
            "choice": repr(asdict(chosen)),
            "notes": json.dumps(notes, ensure_ascii=False),
        }
        words = keys_as_tensors(vocabulary.words)
        tensors = words | {"ids": mapped(numbers), "counts": vocabulary.counts}
        write_tensor_file(place, KIND, tensors, metadata)
    return open_encoded(place)


def forget_old(folder: Path) -> None:
    """Remove corpora that nobody has opened for long; those being read stay until then."""
    for path in folder.glob("*.corpus"):
        with suppress(OSError):  # somebody else may have removed it
            if time.time() - path.stat().st_mtime > FORGOTTEN:
                path.unlink()


@contextmanager
def room_beside(place: Path) -> Iterator[BinaryIO]:
    """A nameless file in the folder of another; what goes wrong there is said with a way out."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place.parent) as file:
            yield file
    except OSError as error:  # readers say themselves what is wrong with their files
        raise InvalidFileError(
            f"text as numbers cannot be kept in {place.parent} ({error.strerror or error}):"
            " name another folder in MALMOI_CACHE"
        ) from error


def number_corpus(
    corpus: Corpus,
    cut: Tokenizer,
    choice: VocabularySettings,
    out: BinaryIO,
    progress: Progress,
    tell: Note,
) -> Vocabulary:
    """Write the corpus as ids: in one pass, or in two where words are forgotten on the way."""
    if choice.held is None:
        read = read_blocks(cut_blocks(corpus.blocks(progress, tell), cut), keep=out)
        vocabulary = chosen_words(read.total, choice)
        read.renumber(mapped(out), vocabulary.words)
        return vocabulary
    vocabulary = count_corpus(corpus, cut, choice, progress=progress, tell=tell)
    table = WordTable.of(vocabulary.words)
    again = corpus.blocks(progress, lambda note: None)
    for ids in in_order(table.encode, cut_blocks(again, cut)):
        out.write(ids.data)
    return vocabulary


def count_corpus(
    corpus: Corpus,
    tokenizer: Tokenizer,
    choice: VocabularySettings,
    *,
    progress: Progress = no_progress,
    tell: Note = warn,
) -> Vocabulary:
    """The words of a corpus that are chosen."""
    blocks = cut_blocks(corpus.blocks(progress, tell), tokenizer)
    return chosen_words(read_blocks(blocks, most=choice.held).total, choice)


def chosen_words(table: WordTable, choice: VocabularySettings) -> Vocabulary:
    """The vocabulary that is chosen from all words of a corpus."""
    if len(table) == 0:
        raise InvalidFileError("the corpus is empty: there is not a single word in it")
    vocabulary = Vocabulary.chosen(
        table.keys,
        table.counts,
        min_count=choice.min_count,
        size=choice.max_vocab_size,
        special=choice.special,
    )
    if len(vocabulary) == len(choice.special):
        raise InvalidArgumentError(
            f"no word was seen {choice.min_count:,} times: the most frequent one was seen"
            f" {int(table.counts.max()):,} times, so set min_count to that or less"
        )
    return vocabulary


def cut_blocks(blocks: Iterable[UInt8Array], tokenizer: Tokenizer) -> Iterator[UInt8Array]:
    """Blocks with the tokens of each line between spaces."""
    for block in blocks:
        if not isinstance(tokenizer, Whitespace):
            lines = block.tobytes().decode("utf-8").removesuffix("\n").split("\n")
            many = getattr(tokenizer, "many", None)
            tokens = many(lines) if many else map(tokenizer, lines)
            text = "\n".join(" ".join(line) for line in tokens) + "\n"
            block = np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8)
        yield block


def mapped(numbers: BinaryIO) -> UInt32Array:
    """The numbers in a file, which may be changed there."""
    numbers.flush()
    return np.memmap(numbers, dtype=np.uint32, mode="r+")


def open_encoded(path: Path) -> EncodedCorpus:
    """A corpus that was encoded before, memory-mapped; what was odd about it is told again."""
    tensors, metadata = read_tensor_file(InputFile(path), KIND)
    with damage(path):
        expect(tensors, 1, ids="<u4", counts="<i8")
        vocabulary = Vocabulary(keys_from_tensors(tensors), tensors["counts"])
        encoded = EncodedCorpus(tensors["ids"], vocabulary, metadata["tokenizer"])
        notes = [str(note) for note in json.loads(metadata.get("notes", "[]"))]
    for note in notes:
        warn(note)
    return encoded
