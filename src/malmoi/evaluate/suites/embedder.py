"""Embedder: the vectors of texts for tasks; each different text is encoded once.

Queries and documents get the prompts that the model has for them, as in a search.
"""

from collections.abc import Sequence

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.pipeline.prompts import own_prompts, with_prompt
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidFileError
from malmoi.evaluate.suites.task import Role
from malmoi.evaluate.suites.vector_cache import VectorCache, text_hash
from malmoi.reporting.reporter import Reporter


class Embedder:
    """Calls an encoder for texts that are not in the cache."""

    def __init__(self, encoder: Encoder, cache: VectorCache | None, reporter: Reporter) -> None:
        prompts = own_prompts(encoder)
        self.encoder, self.cache, self.reporter = encoder, cache, reporter
        self.prompts = {"query": prompts.query, "document": prompts.document}
        self.encoded = 0  # texts

    def __call__(self, texts: Sequence[str], role: Role = "text") -> Float32Array:
        """One vector per text, [texts, dim]."""
        encoder, prompt = self.encoder, ""
        if role != "text":
            prompt = self.prompts[role]
            encoder = with_prompt(encoder, prompt)
        # A default prompt of the model is part of its own vectors, not of those without a prompt.
        label = "own" if encoder is self.encoder else prompt
        hashes = {text: text_hash(text, label) for text in texts}
        known = {text: self._cached(key) for text, key in hashes.items()}
        missing = [text for text, vector in known.items() if vector is None]
        rows = {text: row for row, text in enumerate(missing)}
        matrix = np.empty((0, encoder.dim), np.float32)
        if missing:
            matrix = encoder.encode(missing, reporter=self.reporter)
            self.encoded += len(missing)
            self._keep([hashes[text] for text in missing], matrix)
        vectors = np.empty((len(texts), encoder.dim), np.float32)
        for i, text in enumerate(texts):
            cached = known[text]
            vectors[i] = matrix[rows[text]] if cached is None else cached
        return vectors

    def _cached(self, key: bytes) -> Float32Array | None:
        return None if self.cache is None else self.cache.get(key)

    def _keep(self, keys: list[bytes], matrix: Float32Array) -> None:
        if self.cache is None:
            return
        try:
            self.cache.add(keys, matrix)
        except (InvalidFileError, OSError) as error:
            self.reporter.warn(f"vectors are not cached: {error}")
            self.cache = None
