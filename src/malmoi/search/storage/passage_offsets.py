"""Passages of long texts, each with a vector of its own, and which text they belong to.

Rows of a segment are texts. Where texts have passages, rows of its matrix are the passages, text
by text and in order. Knows nothing of how texts are split.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from malmoi.arrays import Float32Array, Int64Array, UInt32Array
from malmoi.encode.protocol import Encoder, PassageSplitter
from malmoi.errors import InvalidArgumentError
from malmoi.files.tensors import Tensors, check_tensors
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter

WHOLE = np.zeros((1, 2), np.uint32)  # the unused span of a text that is one passage


@dataclass(frozen=True, eq=False)
class PassageOffsets:
    """Text i has the passages from bounds[i] to bounds[i + 1]."""

    bounds: Int64Array  # [texts + 1]
    spans: UInt32Array

    @cached_property
    def owners(self) -> Int64Array:
        """The text of each passage."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))

    def of(self, text: int) -> slice:
        """The passages of a text."""
        return slice(int(self.bounds[text]), int(self.bounds[text + 1]))

    def rows(self, texts: Int64Array) -> Int64Array:
        """The passages of some texts, text by text."""
        counts = np.diff(self.bounds)[texts]
        starts = self.bounds[texts] - np.cumsum(counts) + counts
        rows: Int64Array = np.repeat(starts, counts) + np.arange(int(counts.sum()))
        return rows


@dataclass(frozen=True, eq=False)
class EmbeddedPassages:
    """The passages of one text and their vectors."""

    matrix: Float32Array  # [passages, dim]
    spans: UInt32Array


def make_passages(texts: Sequence[UInt32Array]) -> PassageOffsets | None:
    """The offsets of consecutive texts; None if each text is one passage."""
    counts = [len(spans) for spans in texts]
    if all(count == 1 for count in counts):
        return None
    return PassageOffsets(np.cumsum([0, *counts]), np.concatenate(texts))


def embed_texts(
    encoder: Encoder, texts: Sequence[str], *, split: bool, reporter: Reporter = DEFAULT_REPORTER
) -> list[EmbeddedPassages]:
    """The vectors of each text; of its passages, if it is too long for the encoder."""
    if not split or not isinstance(encoder, PassageSplitter):
        vectors = encoder.encode(texts, reporter=reporter)
        return [EmbeddedPassages(row[np.newaxis], WHOLE) for row in vectors]
    spans = encoder.passages(texts)
    flat = [
        text[start:stop] for text, some in zip(texts, spans, strict=True) for start, stop in some
    ]
    matrix = encoder.encode(flat, reporter=reporter)
    bounds = np.cumsum([0, *map(len, spans)])[1:-1]
    each = zip(np.split(matrix, bounds) if spans else [], spans, strict=True)
    return [EmbeddedPassages(rows, np.array(some, np.uint32).reshape(-1, 2)) for rows, some in each]


def join_passages(
    parts: Sequence[tuple[PassageOffsets | None, Int64Array]],
) -> PassageOffsets | None:
    """Concatenate the passages of some texts of several segments."""
    if all(passages is None for passages, _ in parts):
        return None
    counts, spans = [np.zeros(1, np.int64)], list[UInt32Array]()
    for passages, texts in parts:
        if passages is None:
            counts.append(np.ones(len(texts), np.int64))
            spans.append(np.repeat(WHOLE, len(texts), axis=0))
        else:
            counts.append(np.diff(passages.bounds)[texts])
            spans.append(passages.spans[passages.rows(texts)])
    return PassageOffsets(np.cumsum(np.concatenate(counts)), np.concatenate(spans))


def passages_as_tensors(passages: PassageOffsets | None) -> Tensors:
    """The arrays by name; empty if there are no passages."""
    if passages is None:
        return {}
    return {"passage_bounds": passages.bounds, "passage_spans": passages.spans}


def passages_from_tensors(tensors: Tensors, texts: int, vectors: int) -> PassageOffsets | None:
    """Read passages from the tensors of a file."""
    if "passage_bounds" not in tensors:
        return None
    check_tensors(tensors, 1, passage_bounds="<i8")
    check_tensors(tensors, 2, passage_spans="<u4")
    passages = PassageOffsets(tensors["passage_bounds"], tensors["passage_spans"])
    bounds = passages.bounds
    if len(bounds) != texts + 1 or bounds[0] != 0 or bounds[-1] != vectors:
        raise InvalidArgumentError("its passages do not fit its texts")
    if passages.spans.shape != (vectors, 2) or np.any(np.diff(bounds) < 1):
        raise InvalidArgumentError("the spans or bounds of its passages are invalid")
    return passages
