"""Words of concatenated encoders: the contextual vector of each word beside its word vectors.

As Peters et al. 2018 do it for a tagger: [ELMo; GloVe] of every token. One of the encoders is
contextual and decides what a word is; the others look it up.
"""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.pipeline.activations import SpanVectors
from malmoi.encode.pipeline.concatenated import ConcatenatedEncoder
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder
from malmoi.encode.static.average import AverageEncoder, sum_rows
from malmoi.encode.static.words import look_up, words_of
from malmoi.errors import InvalidArgumentError


def contextual_part(encoder: ConcatenatedEncoder) -> ContextualEncoder:
    """The contextual encoder of several, of which all others are word vectors.

    Raises:
        InvalidArgumentError: There is not exactly one, or another one has no word vectors.
    """
    contextual = [part for part in encoder.parts if isinstance(part, ContextualEncoder)]
    others = [part for part in encoder.parts if part not in contextual]
    if len(contextual) != 1 or not all(isinstance(part, AverageEncoder) for part in others):
        raise InvalidArgumentError(
            f"{encoder.name} has no vectors of words: concatenate one model with layers and files"
            " of word vectors"
        )
    return contextual[0]


def add_word_vectors(
    encoder: ConcatenatedEncoder, spans: Sequence[SpanVectors]
) -> list[SpanVectors]:
    """The words of texts with the vectors of all parts, in the order of the parts."""
    keys = {key: row for row, key in enumerate(dict.fromkeys(chain(*(one.keys for one in spans))))}
    tables = [
        word_table(part, list(keys)) if isinstance(part, AverageEncoder) else None
        for part in encoder.parts
    ]

    def widened(one: SpanVectors) -> SpanVectors:
        rows = [keys[key] for key in one.keys]
        parts = [one.matrix if table is None else table[rows] for table in tables]
        return SpanVectors(one.keys, one.offsets, np.hstack(parts))

    return [widened(one) for one in spans]


def word_table(encoder: AverageEncoder, words: Sequence[str]) -> Float32Array:
    """The mean vector of each word's tokens, [words, dim]; zeros for unknown words."""
    tokens = list(words_of(words, encoder.tokenizer))
    flat = list(chain(*tokens))
    owners = np.repeat(np.arange(len(words)), list(map(len, tokens)))
    _, table, known = look_up(encoder.vectors, flat)
    sums = sum_rows(table, np.arange(len(flat)), owners, len(words))
    counts = np.bincount(owners[known], minlength=len(words))
    means: Float32Array = (sums / np.maximum(counts, 1)[:, np.newaxis]).astype(np.float32)
    return means
