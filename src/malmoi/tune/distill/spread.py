"""How far vectors are apart, and how an encoder's tokenizer reads texts: signs of a collapse."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Float32Array, Float64Array
from malmoi.encode.checkpoint.weights import read_weights, weights_file
from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.vectors import l2_normalize


@dataclass(frozen=True, kw_only=True)
class VectorSpread:
    """How far vectors are apart.

    `mean_cosine` is the mean cosine of all pairs; `effective_rank` the exponential of the entropy
    of the spectrum of unit vectors (Roy and Vetterli 2007), `centred_rank` the same around their
    mean.
    """

    mean_cosine: float
    effective_rank: float
    centred_rank: float


def vector_spread(vectors: Float32Array) -> VectorSpread:
    """The spread of vectors [texts, dim], at least two."""
    units = l2_normalize(vectors).astype(np.float64)
    return VectorSpread(
        mean_cosine=mean_cosine(vectors),
        effective_rank=_effective_rank(units),
        centred_rank=_effective_rank(units - units.mean(axis=0)),
    )


def mean_cosine(vectors: Float32Array) -> float:
    """The mean cosine of all pairs of vectors; that of a zero vector with others is 0."""
    units = l2_normalize(vectors).astype(np.float64)
    squares = np.square(units).sum()
    total = float(np.square(units.sum(axis=0)).sum() - squares)
    return total / (len(units) * (len(units) - 1))


def _effective_rank(rows: Float64Array) -> float:
    energies = np.square(np.linalg.svd(rows, compute_uv=False))
    if energies.sum() < 1e-9 * len(rows):  # all rows are 0
        return 1.0
    shares = energies / energies.sum()
    shares = shares[shares > 0]
    return float(np.exp(-(shares * np.log(shares)).sum()))


@dataclass(frozen=True, kw_only=True)
class TokenShares:
    """Shares of texts with an unknown token, and of words that are unknown or single letters.

    `mean_cosine` is that of the rows of all different tokens of the texts, with one another.
    """

    unknown: float
    fragments: float
    mean_cosine: float


def token_shares(encoder: TransformerEncoder, texts: Sequence[str]) -> TokenShares:
    """How an encoder's tokenizer reads texts, and whether its table keeps their tokens apart."""
    encoded = encoder.pipeline.tokenize(texts)
    stats = TextStats()
    encoder.pipeline.count(encoded, stats)
    unknown = encoder.tokenizer.unk_token_id
    with_unknown = sum(unknown in encoding.ids for encoding in encoded.encodings)
    ids = {
        token_id
        for encoding in encoded.encodings
        for token_id, special in zip(encoding.ids, encoding.special_tokens_mask, strict=True)
        if not special
    }
    weights = read_weights(weights_file(encoder.modules.transformer), encoder.config)
    rows = weights["word_embeddings"][sorted(ids)]
    return TokenShares(
        unknown=with_unknown / len(texts),
        fragments=stats.fragments / max(stats.words, 1),
        mean_cosine=mean_cosine(rows) if len(rows) > 1 and rows.any() else 1.0,
    )
