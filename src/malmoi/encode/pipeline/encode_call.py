"""What `encode` of every encoder has in common: its arguments, and the chunks as one matrix."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.tokens.inputs import Text, TextOrPair, check_texts
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.progress_bar import ProgressReporter
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.text_inputs import TextLike
from malmoi.vectors import l2_normalize

P = ParamSpec("P")
R = TypeVar("R")

# What sentence-transformers calls otherwise, and what to write here.
REPLACEMENTS = {
    "sentences": "pass the texts as the first argument",
    "inputs": "pass the texts as the first argument",
    "show_progress_bar": "write show_progress=True",
    "normalize_embeddings": "write normalize=True",
    "prompt_name": "write prompt='name'",
    "convert_to_numpy": "leave it out: the result is a NumPy array",
    "convert_to_tensor": "write torch.from_numpy(encoder.encode(texts))",
    "output_value": "encoder.activations(texts).tokens() has the vectors of tokens",
    "precision": "load the model as 'name:quantized' to compute in integers",
    "truncate_dim": "write vectors[:, :dim], and normalize again",
    "device": "leave it out: encoders run on the CPU",
    "pool": "leave it out: an encoder uses all cores",
    "chunk_size": "leave it out: texts are read in chunks",
}


def explain_renamed(encode: Callable[P, R]) -> Callable[P, R]:
    """Let `encode` say what replaces an argument of sentence-transformers."""
    own = encode.__kwdefaults__ or {}

    @wraps(encode)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name in REPLACEMENTS and name not in own:
                raise InvalidArgumentError(
                    f"encode has no argument '{name}': {REPLACEMENTS[name]};"
                    " malmoi.compat.sentence_transformers takes the old names"
                )
        return encode(*args, **kwargs)

    return checked


def collect_vectors(
    texts: str | Iterable[TextOrPair],
    dim: int,
    stream: Callable[[list[Text], Reporter], Iterator[Float32Array]],
    *,
    batch_size: int | None = None,
    normalize: bool = False,
    show_progress: bool = False,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Float32Array:
    """The chunks of a stream as one matrix [texts, dim]; of a single string, one vector [dim]."""
    if batch_size is not None and batch_size < 1:
        raise InvalidArgumentError(f"batch_size must be at least 1; got {batch_size}")
    all_texts = check_texts([texts] if isinstance(texts, str) else texts)
    with ExitStack() as stack:
        if show_progress and reporter is DEFAULT_REPORTER:
            reporter = stack.enter_context(ProgressReporter())
        progress, done = reporter.stage("embedding", "texts"), 0
        chunks = [np.empty((0, dim), np.float32)]
        for chunk in stream(all_texts, reporter):
            chunks.append(chunk)
            done += len(chunk)
            progress(done, len(all_texts))
    vectors = np.concatenate(chunks[1:] or chunks)
    if normalize:
        vectors = l2_normalize(vectors)
    return vectors[0] if isinstance(texts, str) else vectors


class StreamEncoder(ABC):
    """`encode` of encoders without layers, by their `stream`."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """The dimension of a text's vector."""

    @abstractmethod
    def stream(
        self, texts: Iterable[TextLike], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Iterator[Float32Array]:
        """The vectors of `encode` in chunks, each as soon as it is ready."""

    @explain_renamed
    def encode(
        self,
        texts: str | Iterable[TextLike],
        *,
        batch_size: int | None = None,
        normalize: bool = False,
        show_progress: bool = False,
        reporter: Reporter = DEFAULT_REPORTER,
    ) -> Float32Array:
        """One vector per text.

        Args:
            texts: Strings or token lists, whose tokens are joined by spaces: a list, a
                generator, a Series or an array; or a single string.
            batch_size: A hint that code for sentence-transformers passes; texts are batched by
                their length, and vectors do not depend on it.
            normalize: Scale each vector to length one.
            show_progress: Draw a progress bar, if no reporter is passed.
            reporter: Gets the progress, and the counts of texts and words that it warns of.

        Returns:
            [texts, dim], or [dim] for a single string.

        Raises:
            InvalidArgumentError: An argument is invalid.
        """
        return collect_vectors(
            texts,
            self.dim,
            lambda all_texts, reporter: self.stream(all_texts, reporter=reporter),
            batch_size=batch_size,
            normalize=normalize,
            show_progress=show_progress,
            reporter=reporter,
        )
