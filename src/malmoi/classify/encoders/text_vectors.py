"""TextVectors: the vectors of texts by an encoder that is loaded when it is first used.

The encoder is known by its name and by its fingerprint, a probe text and its vector: one that
changed since a classifier was trained is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.loading import load_encoder
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidFileError
from malmoi.evaluate.suites.embedder import Embedder
from malmoi.evaluate.suites.vector_cache import PROBES, VectorCache, encoder_fingerprint
from malmoi.reporting.reporter import InputTotals, Reporter, SilentReporter
from malmoi.search.fingerprint import has_fingerprint, model_name, take_fingerprint
from malmoi.search.storage.state import EncoderFingerprint
from malmoi.unicode import normalize

SILENT = SilentReporter()
MIN_CACHED_TEXTS = 256  # in a call; the vectors of fewer are computed sooner than written


@dataclass(eq=False)
class TextVectors:
    """The encoder of a classifier; with `cache`, vectors are kept in the cache folder."""

    model: str
    dim: int
    probe: EncoderFingerprint | None = None
    cache: bool = False

    @classmethod
    def of(cls, encoder: Encoder, texts: Sequence[str], *, cache: bool) -> "TextVectors":
        """An encoder that is loaded already; its fingerprint is taken of one of these texts."""
        probe = take_fingerprint(encoder, [*PROBES, *texts[:MIN_CACHED_TEXTS]])
        vectors = cls(model_name(encoder), encoder.dim, probe, cache)
        vectors.encoder = encoder
        return vectors

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder; raises `InvalidFileError` if it is missing or has changed."""
        try:
            encoder = load_encoder(self.model)
        except InvalidFileError as error:
            raise InvalidFileError(f"the encoder of this classifier is missing: {error}") from error
        is_same = encoder.dim == self.dim
        if not is_same or (self.probe is not None and not has_fingerprint(encoder, self.probe)):
            raise InvalidFileError(
                f"the encoder '{self.model}' has changed since this classifier was trained on its"
                " vectors: train the classifier again"
            )
        return encoder

    @cached_property
    def _fingerprint(self) -> str:
        """The key of cached vectors, taken once: compiled kernels round in another way."""
        return encoder_fingerprint(self.encoder)

    def __call__(self, texts: Sequence[str], reporter: Reporter = SILENT) -> Float32Array:
        """One vector per text, [texts, dim], in an array of its own."""
        whole, cache = [normalize("NFC", text) for text in texts], None
        if not whole:
            return np.zeros((0, self.dim), np.float32)
        if self.cache and len(whole) >= MIN_CACHED_TEXTS:
            cache = VectorCache(self.encoder, fingerprint=self._fingerprint)
        with InputTotals(reporter) as totals:
            return Embedder(self.encoder, cache, totals)(whole)
