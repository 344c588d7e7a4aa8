"""Target vectors: the teacher's of source texts, and a bridge's mapped into the teacher's space.

All vectors are cached on disk, part by part, so that an interrupted run does not compute them
again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.loading import load_encoder
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.suites.embedder import Embedder
from malmoi.evaluate.suites.vector_cache import VectorCache
from malmoi.reporting.reporter import InputTotals, Reporter
from malmoi.tune.distill.parallel import ParallelTexts
from malmoi.tune.distill.ridge import MIN_ROWS, choose_ridge
from malmoi.vectors import l2_normalize

PART_TEXTS = 4096  # encoded and cached at a time
MIN_BRIDGE_R2 = 0.2  # below, its targets teach little
UNIT_TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class DistillTargets:
    """Texts to train on with their target vectors, and those of the held-out pairs."""

    texts: tuple[str, ...]
    vectors: Float32Array  # [texts, dim]
    held_out: Float32Array  # [pairs, dim], the teacher's of the source texts
    with_sources: bool  # whether source texts are among the texts


class CachedVectors:
    """The vectors of an encoder, from the cache where they are known."""

    def __init__(self, name: str, reporter: Reporter) -> None:
        self.encoder = load_encoder(name)
        self.cache, self.reporter = VectorCache(self.encoder), reporter

    def __call__(self, texts: Sequence[str], title: str) -> Float32Array:
        """One vector per text, [texts, dim]."""
        progress = self.reporter.stage(title, "texts")
        parts = [np.empty((0, self.encoder.dim), np.float32)]
        with InputTotals(self.reporter) as totals:
            embed = Embedder(self.encoder, self.cache, totals)
            for start in range(0, len(texts), PART_TEXTS):
                parts.append(embed(texts[start : start + PART_TEXTS]))
                progress(min(start + PART_TEXTS, len(texts)), len(texts))
        return np.concatenate(parts)


def make_targets(
    data: ParallelTexts,
    teacher: str,
    bridge: str | None,
    *,
    with_sources: bool,
    reporter: Reporter,
) -> DistillTargets:
    """The targets of all training texts.

    Args:
        data: The texts.
        teacher: The encoder whose vectors of source texts are learnt.
        bridge: An encoder of both languages, for texts of the target language alone.
        with_sources: Whether source texts are trained on too.
        reporter: Receives the progress, and how well the bridge fits.

    Returns:
        Target texts with the teacher's vectors of their source texts, then texts of the target
        language with the bridge's, then source texts with their own.

    Raises:
        InvalidArgumentError: There are texts without a bridge, or too few pairs to fit one.
    """
    encode = CachedVectors(teacher, reporter)
    sources, translated = ([pair[side] for pair in data.pairs] for side in (0, 1))
    learnt = encode(sources, "teacher")
    held_out = encode([pair[0] for pair in data.held_out], "teacher")
    texts, vectors = list(translated), [learnt]
    if data.texts:
        if bridge is None:
            raise InvalidArgumentError(
                f"{len(data.texts):,} texts have no translation: name a bridge, an encoder of both"
                " languages such as use"
            )
        texts += data.texts
        vectors.append(_bridged(data, bridge, learnt, reporter))
    if with_sources:
        own = list(dict.fromkeys([*sources, *data.source_texts]))
        texts += own
        vectors.append(encode(own, "teacher"))
    return DistillTargets(tuple(texts), np.concatenate(vectors), held_out, with_sources)


def _bridged(
    data: ParallelTexts, bridge: str, learnt: Float32Array, reporter: Reporter
) -> Float32Array:
    """The bridge's vectors of the target language's texts, in the teacher's space."""
    if len(data.pairs) < MIN_ROWS:
        raise InvalidArgumentError(
            f"{len(data.pairs)} pairs cannot fit the bridge {bridge}: pass at least {MIN_ROWS}"
        )
    encode = CachedVectors(bridge, reporter)
    # The bridge knows both languages: its vectors of both sides have the same targets.
    sides = [encode([pair[side] for pair in data.pairs], "bridge") for side in (0, 1)]
    ridge = choose_ridge(np.concatenate(sides), np.concatenate([learnt, learnt]))
    sentence = (
        f"the bridge {bridge} explains {ridge.r2:.0%} of the variance of the teacher's vectors"
        f" (R² on held-out texts, penalty {ridge.penalty:g})"
    )
    reporter.warn(sentence if ridge.r2 >= MIN_BRIDGE_R2 else f"{sentence}: its targets are poor")
    mapped = ridge(encode(data.texts, "bridge"))
    is_unit = np.abs(np.linalg.norm(learnt, axis=1) - 1).max() < UNIT_TOLERANCE
    return l2_normalize(mapped) if is_unit else mapped
