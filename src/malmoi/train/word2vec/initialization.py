"""Where a training of word vectors begins: at random, or from vectors that are there already."""

from dataclasses import asdict, replace
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int32Array, Int64Array
from malmoi.errors import InvalidArgumentError, warn
from malmoi.files.checkpoint import RunFingerprint
from malmoi.kernels.parsing.scan_words import renumber
from malmoi.kernels.word2vec.rows import aligned_rows, padded_width
from malmoi.kernels.word2vec.train_words import WordNetwork
from malmoi.keys import Keys
from malmoi.subwords import SubwordVectors
from malmoi.text.encoded import EncodedCorpus
from malmoi.train.word2vec.input_rows import InputRows
from malmoi.train.word2vec.settings import WordSettings
from malmoi.vectors import Vectors
from malmoi.vocabulary import Vocabulary


def with_words_of(old: Vectors, corpus: EncodedCorpus) -> EncodedCorpus:
    """The corpus numbered by a vocabulary of both, their counts added."""
    cut = old.meta.get("tokenizer", corpus.tokenizer)
    if cut != corpus.tokenizer:
        warn(
            f"the words to go on with were cut by {cut}, those of this text by"
            f" {corpus.tokenizer}: only equal ones come together"
        )
    counts = np.ones(len(old), np.int64) if old.counts is None else np.asarray(old.counts)
    both = Vocabulary(old.keys, counts).merged(corpus.vocabulary)
    numbers = both.words.find_all(corpus.vocabulary.words).astype(np.uint32)
    ids = np.array(corpus.ids)
    renumber(ids, numbers)
    return replace(corpus, ids=ids, vocabulary=both)


def refuse_misfits(
    corpus: EncodedCorpus, settings: WordSettings, start: Vectors | None, frozen: bool, update: bool
) -> None:
    """What cannot be learnt, or not so."""
    if len(corpus.vocabulary) < 2:
        raise InvalidArgumentError(
            "there is nothing to learn from a single word: give more text, lower min_count or"
            " raise size"
        )
    if start is None and (frozen or update):
        wanted = "freeze" if frozen else "go on with"
        raise InvalidArgumentError(f"there is nothing to {wanted}: give vectors to start from")
    if start is not None and start.dim != settings.dim:
        raise InvalidArgumentError(
            f"the vectors to start from have {start.dim} numbers and the new ones"
            f" {settings.dim}: set dim to {start.dim}"
        )


def random_rows(rows: int, dim: int, seed: int) -> Float32Array:
    """Small random rows, evenly between ± 1 / dim as in gensim and fastText, padded with zeros.

    word2vec.c has half of that. At low learning rates the difference stays: rows grow by what
    they are multiplied with.
    """
    matrix = aligned_rows(rows, padded_width(dim))
    random = np.random.default_rng(seed)
    for first in range(0, rows, 65536):
        part = matrix[first : first + 65536, :dim]
        part[:] = (2 * random.random(part.shape, dtype=np.float32) - 1) / dim
    return matrix


def begin_from(
    start: Vectors, network: WordNetwork, rows: InputRows, keys: Keys, settings: WordSettings
) -> npt.NDArray[np.bool_]:
    """Put rows that are there already in their places; for each word whether it had one."""
    found = find_words(start, keys)
    inputs = network.inputs
    if not len(rows.used):
        copy_rows(inputs, start.matrix, found)
    elif isinstance(start, SubwordVectors):
        copy_rows(inputs, start.own, found)
        copy_rows(inputs[rows.words :], start.ngrams, places_of(rows.used, start, settings))
    else:
        move_means(inputs, rows, start.matrix, found)
    if settings.softmax == "negatives" and start.output is not None:
        copy_rows(network.outputs, start.output, found)
    return found >= 0


def find_words(start: Vectors, keys: Keys) -> Int64Array:
    """The row in `start` of each word, −1 where it has none; that no word has one is told."""
    found = start.keys.find_all(keys)
    if not np.any(found >= 0):
        warn(f"of {len(keys):,} words none is among the vectors to start from: all begin at random")
    return found


def places_of(used: Int32Array, start: SubwordVectors, settings: WordSettings) -> Int64Array:
    """Where `start` has the rows of these buckets; −1 where it has none."""
    asked = getattr(settings, "subwords", start.subwords)
    if start.subwords != asked:
        old, new = asdict(start.subwords), asdict(asked)
        name = next(name for name in new if old[name] != new[name])
        raise InvalidArgumentError(
            f"the vectors to start from cut words otherwise, with {name} {old[name]}, not"
            f" {new[name]}: choose the same"
        )
    if start.kept is None:
        return used.astype(np.int64)
    if not len(start.kept):
        return np.full(len(used), -1)
    places = np.minimum(np.searchsorted(start.kept, used), len(start.kept) - 1)
    return np.where(start.kept[places] == used, places, -1)


def copy_rows(to: Float32Array, given: Float32Array, found: Int64Array) -> None:
    """Rows that are there already: row i is `given[found[i]]`, unless that is −1."""
    places = np.flatnonzero(found >= 0)
    to[places, : given.shape[1]] = given[found[places]]


def move_means(
    inputs: Float32Array, rows: InputRows, given: Float32Array, found: Int64Array
) -> None:
    """Words' own rows such that with their n-grams' the mean is `given[found[i]]`, unless −1."""
    places, dim = np.flatnonzero(found >= 0), given.shape[1]
    sizes = np.diff(rows.starts)[places, None].astype(np.float32)
    inputs[places, :dim] += sizes * (given[found[places]] - rows.means(inputs)[places, :dim])


def origin_of(training: RunFingerprint, start: Vectors | None, frozen: bool) -> RunFingerprint:
    """What makes a training the same as another; how many threads there are does not."""
    begun = "no vectors"
    if start is not None:
        digest = blake2b(start.matrix.data, digest_size=16)
        for array in (start.keys.packed, start.keys.offsets):
            digest.update(np.ascontiguousarray(array).view(np.uint8).data)
        begun = f"vectors {digest.hexdigest()}"
    same = training.settings | {"threads": None, "start": begun, "frozen": frozen}
    return replace(training, settings=same)
