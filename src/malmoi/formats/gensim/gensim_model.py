"""gensim's models and vectors (`.model`, `.kv`): Word2Vec, FastText, KeyedVectors, of all releases.

They are pickles, which `pickle_reader` reads without running them; gensim itself is not needed. The
names of attributes changed from release to release:

    words      index_to_key (4), index2word (up to 3), index2entity; or vocab[word].index
    vectors    vectors (3, 4), syn0 (up to 2)
    counts     expandos["count"] (4), vocab[word].count (up to 3)
    n-grams    vectors_vocab and vectors_ngrams [bucket, dim]
    outputs    syn1neg, up to 3 of `trainables`

FastText of releases before 3.8 hashed n-grams in another way, so that only words are read of it.
"""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.source import InputFile
from malmoi.formats.gensim.pickle_reader import read_pickle
from malmoi.formats.gensim.saved_model import SavedModel
from malmoi.formats.gensim.stored_object import StoredObject, as_array
from malmoi.formats.reading import MAX_KEY_BYTES, LoadRequest, LoadResult, select_rows
from malmoi.keys import Keys
from malmoi.subwords import Subwords, SubwordVectors
from malmoi.vectors import Vectors, as_matrix

TITLE = "gensim model"
PROTOCOLS = tuple(bytes([0x80, version]) for version in range(2, 6))
SETTINGS = (
    "vector_size", "alpha", "window", "min_count", "max_vocab_size", "sample", "seed", "workers",
    "min_alpha", "sg", "hs", "negative", "ns_exponent", "cbow_mean", "epochs", "sorted_vocab",
    "batch_words", "comment", "max_final_vocab", "shrink_windows", "min_n", "max_n", "bucket",
    "corpus_count", "corpus_total_words",
)  # fmt: skip
FORMER_SETTINGS = {"epochs": "iter"}
HOLDERS = ("vocabulary", "trainables", "wv")  # inner objects that hold settings of some releases
MAX_NGRAM = 256  # characters: longer ones would take forever
OLD_NGRAMS = (
    "it is a FastText model from before gensim 3.8, whose n-grams are hashed in another way: only"
    " its words are read, and unseen words have no vector"
)


def matches(source: InputFile) -> bool:
    """A pickle of protocol 2 to 5."""
    return source.head.startswith(PROTOCOLS)


def read(source: InputFile, request: LoadRequest) -> LoadResult:
    """Read the pickle, and of the arrays beside it those that vectors consist of."""
    root = read_pickle(source.mapped, source.path)
    if not isinstance(root, StoredObject) or not root.kind.module.startswith("gensim."):
        raise InvalidFileError(f"{source.path} is a Python pickle, but not of a model of gensim")
    model = SavedModel(root, source.path)
    problems: list[str] = []
    try:
        vectors = read_vectors(model, problems)
    except (InvalidFileError, InvalidArgumentError) as error:
        raise InvalidFileError(
            f"{source.path} is a {model.kind} of gensim that malmoi cannot read: {error}"
        ) from error
    result = select_rows(vectors, request, lambda i: str(source.path))
    result.report.format = f"{TITLE} ({model.kind})"
    result.report.problems += problems
    result.report.advice[OLD_NGRAMS] = "save it again with gensim 3.8.3, which converts n-grams"
    return result


def read_vectors(model: SavedModel, problems: list[str]) -> Vectors:
    """The vectors of a model; before release 1.0 they are attributes of the model itself."""
    saved = model.inner("wv") or model
    words = read_words(saved)
    matrix = saved.matrix("vectors", "syn0")
    counts, meta = read_counts(saved, words), {"gensim": json.dumps(read_settings(model))}
    outputs = read_outputs(model, len(words))
    if saved.get("bucket") or saved.get("min_n"):
        fasttext = read_subwords(model, saved, words, problems)
        if fasttext is not None:
            return replace(fasttext, counts=counts, meta=meta, context_matrix=outputs)
    if matrix is None:
        raise InvalidFileError("it holds no vectors of words")
    return Vectors(words, matrix[: len(words)], counts, meta, outputs)


def read_words(saved: SavedModel) -> Keys:
    """The words in the order of their rows."""
    words = saved.get("index_to_key", "index2word", "index2entity")
    if words is None and type(vocab := saved.get("vocab")) is dict:
        words = sorted(vocab, key=lambda word: entry(vocab, word, "index"))
    if type(words) is not list or not all(type(word) is str for word in words):
        raise InvalidFileError("it holds no list of words")
    if max(map(len, words), default=0) > MAX_KEY_BYTES:
        raise InvalidFileError(f"it holds a word of more than {MAX_KEY_BYTES:,} characters")
    return Keys.of(words)


def entry(vocab: dict[Any, Any], word: str, name: str) -> int:
    """A number in the entry of a word in the vocabulary of releases up to 3."""
    stored = vocab.get(word)
    value = stored.attributes().get(name) if isinstance(stored, StoredObject) else None
    return value if type(value) is int else 0


def read_counts(saved: SavedModel, words: Keys) -> npt.NDArray[np.int64] | None:
    """How often each word occurred, if that is stored."""
    if type(vocab := saved.get("vocab")) is dict:
        counts = np.array([min(entry(vocab, word, "count"), 2**62) for word in words], np.int64)
        return counts if counts.any() else None
    expandos = saved.get("expandos")
    if type(expandos) is not dict or "count" not in expandos:
        return None
    stored = as_array(expandos["count"], "count")
    if stored.shape != (len(words),) or stored.dtype.kind not in "iu":
        raise InvalidFileError("its counts are not one number per word")
    return stored.astype(np.int64)


def read_outputs(model: SavedModel, words: int) -> Float32Array | None:
    """The output layer of negative sampling, so that training can continue."""
    trainables = model.inner("trainables")
    outputs = model.matrix("syn1neg")
    if outputs is None and trainables is not None:
        outputs = trainables.matrix("syn1neg")
    return None if outputs is None or len(outputs) != words else as_matrix(outputs)


def read_subwords(
    model: SavedModel, saved: SavedModel, words: Keys, problems: list[str]
) -> SubwordVectors | None:
    """The vectors of FastText with their n-grams; None if there are none that malmoi can use."""
    from malmoi.formats.fasttext.fasttext_model import word_matrix  # imports Numba
    from malmoi.reporting.reporter import no_progress

    sizes = [saved.get(name) or model.get(name) or 0 for name in ("min_n", "max_n", "bucket")]
    if not all(type(size) is int for size in sizes) or min(sizes) < 1 or sizes[0] > sizes[1]:
        return None
    if sizes[1] > MAX_NGRAM:
        raise InvalidFileError(f"its n-grams have up to {sizes[1]:,} characters")
    own, ngrams = saved.matrix("vectors_vocab"), saved.matrix("vectors_ngrams")
    if saved.get("compatible_hash") is not True or own is None or ngrams is None:
        problems.append(OLD_NGRAMS)
        return None
    subwords = Subwords(min_n=sizes[0], max_n=sizes[1], buckets=sizes[2])
    bucket_rows, kept = used_buckets(as_matrix(ngrams), saved.get("hash2index"), sizes[2])
    word_rows, matrix = as_matrix(own), saved.matrix("vectors")
    if len(word_rows) != len(words) or bucket_rows.shape[1] != word_rows.shape[1]:
        raise InvalidFileError("its matrices are not of its words and n-grams")
    if matrix is None:  # the mean of a word's own row and those of its n-grams
        matrix = word_matrix(words, word_rows, bucket_rows, subwords, kept, no_progress)
    return SubwordVectors(
        words,
        matrix,
        word_rows=word_rows,
        bucket_rows=bucket_rows,
        subwords=subwords,
        kept_buckets=kept,
    )


def used_buckets(
    rows: Float32Array, hash2index: object, buckets: int
) -> tuple[Float32Array, npt.NDArray[np.int32] | None]:
    """The rows of n-grams and their buckets; releases up to 3 stored rows in use alone."""
    if len(rows) == buckets:
        return rows, None
    if type(hash2index) is not dict or not all(
        type(bucket) is int and type(row) is int and 0 <= bucket < buckets and 0 <= row < len(rows)
        for bucket, row in hash2index.items()
    ):
        raise InvalidFileError("its n-grams are not those of its buckets")
    kept = sorted(hash2index)
    return rows[[hash2index[bucket] for bucket in kept]], np.array(kept, np.int32)


def read_settings(model: SavedModel) -> dict[str, str | int | float | bool]:
    """How the model was trained, by gensim's present names."""
    holders = [model, *filter(None, (model.inner(name) for name in HOLDERS))]
    settings: dict[str, str | int | float | bool] = {"class": model.kind}
    for name in SETTINGS:
        for holder in holders:
            value = holder.get(name, FORMER_SETTINGS.get(name, name))
            if type(value) in (str, int, float, bool):
                settings.setdefault(name, value)
    return settings
