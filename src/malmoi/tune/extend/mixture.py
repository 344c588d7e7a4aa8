"""Rows of new tokens as mixtures of known rows: those nearest to them in a bilingual encoder.

A new token's row is the softmax mean of the rows of the known tokens (anchors) whose texts are
nearest to its own text; translations in parallel sentences, where there are any, are mixed in. A
token that the encoder cannot read gets the mean of all anchors. Knows nothing of files.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arrays import BoolArray, Float32Array, Int64Array
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError
from malmoi.nearest.top_k import rank_rows
from malmoi.reporting.reporter import Reporter, SilentReporter
from malmoi.tune.extend.new_tokens import is_latin
from malmoi.tune.extend.settings import ExtendSettings
from malmoi.tune.extend.translations import Translations
from malmoi.vectors import Vectors, l2_normalize

CHUNK_TEXTS = 2048  # embedded between two reports of progress
MIN_SHOWN = 0.01  # of a neighbour
TRANSLATED = 0.5  # the share of translations in the row of a frequent token
MAX_SAME = 50  # texts with one vector, which the encoder then cannot tell apart


@dataclass(frozen=True, kw_only=True, eq=False)
class Mixture:
    """Each new token as weights of known tokens; the mean of all anchors fills up to 1."""

    first: int  # the id of the first new token
    anchors: Int64Array  # ids of known tokens
    ids: Int64Array  # [new tokens, k]
    weights: Float32Array  # [new tokens, k], each row adds up to at most 1

    def rows(self, table: npt.NDArray[np.floating]) -> Float32Array:
        """New rows for a table with one row per token: [new tokens, …]."""
        common = table[self.anchors].mean(axis=0, dtype=np.float32)
        left = (1 - self.weights.sum(axis=1)).clip(0)
        rows: Float32Array = np.multiply.outer(left, common).astype(np.float32)
        for ids, weights in zip(self.ids.T, self.weights.T, strict=True):
            rows += table[ids] * weights.reshape(-1, *[1] * common.ndim)
        return rows

    def with_translations(self, translations: Translations) -> "Mixture":
        """Half of each row from translations: the more of it, the more often a token occurs."""
        counts = translations.counts[:, np.newaxis].astype(np.float32)
        share = TRANSLATED * counts / (counts + 1)
        return replace(
            self,
            ids=np.hstack([self.ids, translations.ids]),
            weights=np.hstack(
                [(1 - share) * self.weights, share * translations.probabilities]
            ).astype(np.float32),
        )

    def neighbours(self, row: int, token: Callable[[int], str]) -> list[tuple[str, float]]:
        """The known tokens that a new row is made of and their weights, largest first."""
        weights: dict[str, float] = {}
        for i, weight in zip(self.ids[row].tolist(), self.weights[row].tolist(), strict=True):
            weights[token(i)] = weights.get(token(i), 0.0) + weight
        by_weight = sorted(weights.items(), key=lambda item: -item[1])
        return [(name, round(weight, 3)) for name, weight in by_weight if weight >= MIN_SHOWN]


def mix_tokens(
    tokens: Sequence[str],
    tokenizer: Any,
    encoder: Encoder,
    settings: ExtendSettings,
    *,
    reporter: Reporter,
) -> Mixture:
    """The mixtures of new tokens.

    Args:
        tokens: The new tokens.
        tokenizer: The WordPiece tokenizer with the known tokens.
        encoder: An encoder that reads the language of both.
        settings: Number of neighbours and temperature.
        reporter: Receives the progress in tokens.

    Raises:
        InvalidArgumentError: No known token is a word.
    """
    vocabulary, prefix = tokenizer.get_vocab(), tokenizer.model.continuing_subword_prefix
    by_id = sorted(vocabulary.items(), key=lambda item: item[1])  # its order varies
    known = {token: i for token, i in by_id if is_anchor(token, prefix)}
    if not known:
        raise InvalidArgumentError(
            "the vocabulary has no whole words of Latin letters: new rows are mixed from those"
        )
    texts = [token.removeprefix(prefix) for token in tokens]
    different = list(dict.fromkeys([*known, *texts]))
    vectors = _embed(different, encoder, reporter)
    number = {text: i for i, text in enumerate(different)}
    anchors = _centred(vectors[[number[token] for token in known]])
    own = vectors[[number[text] for text in texts]]
    ranking = rank_rows(Vectors(list(known), anchors), _centred(own), settings.neighbours, "cosine")
    ids = np.array(list(known.values()), np.int64)
    weights = _softmax(ranking.scores, settings.temperature)
    weights[~_is_distinct(own)] = 0.0
    first = max(vocabulary.values()) + 1
    return Mixture(first=first, anchors=ids, ids=ids[ranking.rows], weights=weights)


def is_anchor(token: str, prefix: str) -> bool:
    """Whether a token is a whole word of at least two Latin letters, or a number."""
    if token.startswith(prefix) or not token.isalnum() or not is_latin(token):
        return False
    return token.isdigit() or (token.isalpha() and len(token) > 1)


def _embed(texts: Sequence[str], encoder: Encoder, reporter: Reporter) -> Float32Array:
    """Vectors of short texts; those of similar length together, which is faster."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    progress = reporter.stage(f"embedding tokens by {encoder.name}", "tokens")
    vectors = np.empty((len(texts), encoder.dim), np.float32)
    quiet = SilentReporter()
    for start in range(0, len(order), CHUNK_TEXTS):
        some = order[start : start + CHUNK_TEXTS]
        vectors[some] = encoder.encode([texts[i] for i in some], reporter=quiet)
        progress(start + len(some), len(order))
    return vectors


def _centred(vectors: Float32Array) -> Float32Array:
    """Without their mean, which tells languages apart rather than words; scaled to length 1."""
    return l2_normalize(vectors - vectors.mean(axis=0))


def _softmax(scores: Float32Array, temperature: float) -> Float32Array:
    weights: Float32Array = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights.astype(np.float32, copy=False)


def _is_distinct(vectors: Float32Array) -> BoolArray:
    """Whether few others have the same vector: an encoder has one for all that it cannot read."""
    _, group, counts = np.unique(vectors.round(3), axis=0, return_inverse=True, return_counts=True)
    distinct: BoolArray = counts[group.ravel()] <= MAX_SAME
    return distinct
