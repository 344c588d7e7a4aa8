"""ConcatenatedEncoder: the vectors of several encoders side by side, such as ELMo and GloVe.

Peters et al. 2018 concatenate the context-dependent vector of a token with its word vector; here
the same is done with the vectors of texts. Each keeps its own length: in cosines, the encoder with
the longer vectors counts more, unless parts are normalized.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from malmoi.arguments import expect
from malmoi.arrays import Float32Array
from malmoi.encode.pipeline.encode_call import StreamEncoder
from malmoi.encode.protocol import Encoder, expect_encoder
from malmoi.encode.tokens.chunks import chunks
from malmoi.encode.tokens.inputs import normalize_texts
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.text_inputs import TextLike
from malmoi.vectors import l2_normalize

CHUNK_TEXTS, CHUNK_CHARACTERS = 1 << 16, 1 << 24  # that all parts encode one after the other


@dataclass(frozen=True, eq=False, repr=False)
class ConcatenatedEncoder(StreamEncoder):
    """Several encoders as one; see `concatenate_encoders`."""

    name: str
    parts: tuple[Encoder, ...]
    normalize_parts: bool = False

    @property
    def dim(self) -> int:
        """The dimension of a text's vector: the sum of those of the parts."""
        return sum(part.dim for part in self.parts)

    def stream(
        self, texts: Iterable[TextLike], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Iterator[Float32Array]:
        """The vectors of `encode` in chunks, each as soon as it is ready."""
        for chunk in map(normalize_texts, chunks(texts, CHUNK_TEXTS, CHUNK_CHARACTERS)):
            matrices = [self._encode(part, chunk, reporter) for part in self.parts]
            yield np.concatenate(matrices, axis=1)

    def _encode(self, part: Encoder, texts: list[str], reporter: Reporter) -> Float32Array:
        vectors = np.concatenate(list(part.stream(texts, reporter=reporter)))
        return l2_normalize(vectors) if self.normalize_parts else vectors

    @property
    def bounds(self) -> dict[str, slice]:
        """The columns of each part, by its name."""
        ends = np.cumsum([0, *(part.dim for part in self.parts)]).tolist()
        each = zip(self.parts, pairwise(ends), strict=True)
        return {part.name: slice(*columns) for part, columns in each}

    def __repr__(self) -> str:
        return f"ConcatenatedEncoder({' + '.join(map(repr, self.parts))})"


def concatenate_encoders(
    *encoders: Encoder, normalize_parts: bool = False, name: str | None = None
) -> ConcatenatedEncoder:
    """An encoder whose vectors are those of several encoders, one after the other.

    `load_encoder("a+b")` does the same with the names of models.

    Args:
        encoders: Two encoders or more, of any kind.
        normalize_parts: Scale the vector of each encoder to length one first, so that all count
            the same in cosines.
        name: The name in warnings; by default the names of the encoders, joined by +.

    Returns:
        The encoder.

    Raises:
        InvalidArgumentError: There are fewer than two encoders, or a value is not an encoder.

    Example:
        both = mm.concatenate_encoders(mm.load_encoder("minilm"), mm.load_encoder("use"))
        both.dim  # 896
    """
    if len(encoders) < 2:
        raise InvalidArgumentError(f"{len(encoders)} encoder to concatenate: pass two or more")
    for each in encoders:
        expect_encoder(each)
    expect(normalize_parts, bool, "normalize_parts", "True or False")
    return ConcatenatedEncoder(
        name or "+".join(each.name for each in encoders), encoders, normalize_parts
    )
