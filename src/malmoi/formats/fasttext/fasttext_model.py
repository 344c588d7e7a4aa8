"""fastText's model file, .bin: words, their rows and one row per bucket of n-grams.

    i32 magic, i32 version; i32[12] and f64 of settings (see SETTINGS)
    i32 entries, words, labels; i64 tokens, pruned n-grams (-1: not pruned)
    for each entry its bytes, NUL, i64 count, i8 kind (0 word, 1 label)
    for each pruned n-gram i32 bucket, i32 row
    u8 quantized?; input matrix [words + buckets, dim]; u8 quantized?; output matrix

All little-endian. The first release wrote neither magic and version nor the fields about pruned
n-grams and quantization; such files are read too. The vector of a word is the mean of its row
and its n-grams' rows. A quantized file is named .ftz; `product_quantization` reads its matrices.
"""

import json
import struct
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidFileError
from malmoi.files.source import InputFile
from malmoi.formats.fasttext.byte_cursor import Cursor
from malmoi.formats.fasttext.product_quantization import read_quantized
from malmoi.formats.fasttext.write_fasttext import (
    MAGIC,
    SETTINGS,
    SETTINGS_LAYOUT,
    SUPERVISED,
    VERSION,
)
from malmoi.formats.fasttext.write_fasttext import TITLE as TITLE
from malmoi.formats.fasttext.write_fasttext import write as write
from malmoi.formats.reading import LoadRequest, LoadResult, chosen_rows, decode_keys, select_rows
from malmoi.kernels.core.jit import in_parallel
from malmoi.kernels.parsing.binary_rows import scan_fasttext_entries
from malmoi.kernels.word2vec.subword_rows import word_vectors
from malmoi.keys import Keys, pack_spans
from malmoi.reporting.reporter import Progress
from malmoi.subwords import Subwords, SubwordVectors

BLOCK_WORDS = 65536
MAX_COLUMNS = 1 << 31  # columns: fastText counts them in 32 bits


def matches(source: InputFile) -> bool:
    """fastText's magic number, or settings as its first release wrote them."""
    return has_magic(source.head) or looks_like_settings(source.head)


def has_magic(head: bytes) -> bool:
    """Whether the file has a magic number, as all but the first release write."""
    return head[:4] == struct.pack("<i", MAGIC)


def looks_like_settings(head: bytes) -> bool:
    """Whether the first numbers can be fastText's settings."""
    if len(head) < struct.calcsize(SETTINGS_LAYOUT):
        return False
    *numbers, sampling = struct.unpack_from(SETTINGS_LAYOUT, head)
    settings = dict(zip(SETTINGS, numbers, strict=True))
    return (
        0 < settings["dim"] <= 1 << 16
        and settings["loss"] in (1, 2, 3, 4)
        and settings["model"] in (1, 2, 3)
        and 0 <= settings["minn"] <= settings["maxn"] <= 1 << 8
        and settings["bucket"] >= 0
        and 0 <= sampling <= 1
    )


@dataclass(frozen=True)
class Dictionary:
    """The words of a model, and the labels of a supervised one."""

    keys: Keys
    counts: npt.NDArray[np.int64]
    buckets: npt.NDArray[np.int32] | None  # of the pruned n-grams' rows
    labels: Keys
    label_counts: npt.NDArray[np.int64]


def read(source: InputFile, request: LoadRequest) -> LoadResult:
    """Map the rows of words and n-grams, and compute the vectors of the words."""
    cursor = Cursor(source.mapped, source.path)
    first_release = not has_magic(source.head)
    settings = read_settings(cursor, first_release)
    words = read_dictionary(cursor, first_release)
    quantized = not first_release and cursor.remaining > 0 and bool(cursor.data[cursor.position])
    own, ngrams = read_input(cursor, settings, words, first_release)
    output = read_matrix(cursor, first_release) if cursor.remaining else None
    ngrams, kept = sorted_ngrams(ngrams, words.buckets)
    subwords = subwords_of(settings, len(ngrams), request.encoding)
    keys, counts = words.keys, words.counts
    if request.limit is not None or request.only is not None:
        rows = chosen_rows(keys, request)
        keys, counts, own, output = keys.take(rows), counts[rows], own[rows], None
    vectors = SubwordVectors(
        decode_keys(keys, request.encoding),
        word_matrix(keys, own, ngrams, subwords, kept, request.progress),
        counts,
        {"fasttext": json.dumps(settings)},
        word_rows=own,
        bucket_rows=ngrams,
        subwords=subwords,
        kept_buckets=kept,
        context_matrix=output,
    )
    result = select_rows(
        vectors, replace(request, limit=None, only=None), lambda i: str(source.path)
    )
    result.report.rows = len(words.keys)
    result.report.numbers = "quantized (8 bit)" if quantized else "float32"
    return result


def read_settings(cursor: Cursor, first_release: bool) -> dict[str, float]:
    """Read the settings, by fastText's names."""
    version = VERSION if first_release else cursor.unpack("<2i", "header")[1]
    if version not in (11, VERSION):
        raise InvalidFileError(
            f"{cursor.path} is of fastText's version {version}; malmoi reads 11 and 12"
        )
    *numbers, sampling = cursor.unpack(SETTINGS_LAYOUT, "settings")
    settings: dict[str, float] = dict(zip(SETTINGS, numbers, strict=True)) | {"t": sampling}
    if version == 11 and settings["model"] == SUPERVISED:
        settings["maxn"] = 0  # that version had no character n-grams when supervised
    if settings["dim"] < 1 or settings["bucket"] < 0:
        raise InvalidFileError(
            f"{cursor.path} has vectors of {settings['dim']} dimensions: it is damaged"
        )
    return settings


def read_dictionary(cursor: Cursor, first_release: bool) -> Dictionary:
    """Read words and labels with their counts."""
    entries, words, labels, _ = cursor.unpack("<3iq", "dictionary")
    pruned = -1 if first_release else cursor.unpack("<q", "dictionary")[0]
    if not 0 <= words <= entries == words + labels or entries * 10 > cursor.remaining:
        raise InvalidFileError(
            f"{cursor.path} cannot hold a dictionary of {entries:,} entries: it is damaged"
        )
    starts, stops, counts = (np.empty(entries, np.int64) for _ in range(3))
    is_label = np.empty(entries, np.bool_)
    end = scan_fasttext_entries(cursor.data, cursor.position, starts, stops, counts, is_label)
    if end < 0:
        raise InvalidFileError(f"{cursor.path} is truncated in the dictionary")
    cursor.position = end
    rows = np.flatnonzero(~is_label)
    if len(rows) != words:
        raise InvalidFileError(
            f"{cursor.path} has {len(rows):,} words where {words:,} are announced"
        )
    buckets = None
    if pruned >= 0:
        pairs = cursor.array("<i4", 2 * pruned, "pruned n-grams").reshape(-1, 2)
        buckets = np.empty(pruned, np.int32)
        if pruned and not np.array_equal(np.sort(pairs[:, 1]), np.arange(pruned)):
            raise InvalidFileError(f"{cursor.path} has pruned n-grams without a row: it is damaged")
        buckets[pairs[:, 1]] = pairs[:, 0]
    others = np.flatnonzero(is_label)
    keys, names = (
        Keys(*pack_spans(cursor.data, starts[each], stops[each])) for each in (rows, others)
    )
    return Dictionary(keys, counts[rows], buckets, names, counts[others])


def read_input(
    cursor: Cursor, settings: dict[str, float], words: Dictionary, first_release: bool
) -> tuple[Float32Array, Float32Array]:
    """Read the rows of the words and the rows of the n-grams."""
    matrix = read_matrix(cursor, first_release)
    ngrams = settings["bucket"] if words.buckets is None else len(words.buckets)
    needed = (len(words.keys) + ngrams, settings["dim"])
    if matrix.shape != needed:
        raise InvalidFileError(
            f"{cursor.path} has an input matrix of {matrix.shape}, where {needed} is announced"
        )
    return matrix[: len(words.keys)], matrix[len(words.keys) :]


def read_matrix(cursor: Cursor, first_release: bool) -> Float32Array:
    """Read a matrix, quantized or not."""
    if not first_release and cursor.unpack("<?", "matrix")[0]:
        return read_quantized(cursor)
    rows, columns = cursor.unpack("<2q", "matrix")
    if rows < 0 or not 1 <= columns <= MAX_COLUMNS:
        raise InvalidFileError(f"{cursor.path} has a matrix of {rows} × {columns}: it is damaged")
    return cursor.array("<f4", rows * columns, "matrix").reshape(rows, columns)


def subwords_of(settings: dict[str, float], rows: int, encoding: str) -> Subwords:
    """The n-grams of this model; none if it has no rows for them."""
    shortest, longest = max(1, int(settings["minn"])), int(settings["maxn"])
    return Subwords(
        min_n=shortest,
        max_n=longest if rows and shortest <= longest else 0,
        buckets=int(settings["bucket"]),
        encoding=encoding,
    )


def sorted_ngrams(
    ngrams: Float32Array, buckets: npt.NDArray[np.int32] | None
) -> tuple[Float32Array, npt.NDArray[np.int32] | None]:
    """The rows of a pruned model in the order of their buckets."""
    if buckets is None:
        return ngrams, None
    order = np.argsort(buckets)
    return ngrams[order], buckets[order]


def word_matrix(
    keys: Keys,
    own: Float32Array,
    ngrams: Float32Array,
    subwords: Subwords,
    kept: npt.NDArray[np.int32] | None,
    progress: Progress,
) -> Float32Array:
    """Compute the vector of every word."""
    matrix = np.empty(own.shape, dtype=np.float32)
    buckets = np.empty(0, np.int32) if kept is None else kept

    def compute(first: int, last: int) -> None:
        part = slice(first, last)  # each call gets its own words only
        word_vectors(
            keys.packed, keys.offsets[first : last + 1], own[part], ngrams,
            subwords.min_n, subwords.max_n, subwords.buckets, buckets, kept is not None,
            matrix[part], 0, last - first,
        )  # fmt: skip

    for first in range(0, len(keys), BLOCK_WORDS):
        last = min(first + BLOCK_WORDS, len(keys))
        in_parallel(compute, last, first)
        progress(last, len(keys))
    return matrix
