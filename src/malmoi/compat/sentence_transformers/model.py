"""SentenceTransformer: the class of sentence-transformers over an encoder of malmoi."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.compat.sentence_transformers import util
from malmoi.encode.checkpoint.locate import is_encoder
from malmoi.encode.loading import load_encoder
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder
from malmoi.encode.pipeline.prompts import DOCUMENT_NAMES, QUERY_NAMES, with_prompt
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError
from malmoi.extras import require
from malmoi.reporting.progress_bar import ProgressReporter
from malmoi.reporting.reporter import DEFAULT_REPORTER
from malmoi.text_inputs import TextLike, strings
from malmoi.vectors import l2_normalize

PACKAGED = {"all-minilm-l6-v2": "minilm"}  # models that a package contains, by their hub names
SIMILARITIES: dict[str, util.Similarity] = {
    "cosine": util.cos_sim,
    "dot": util.dot_score,
    "euclidean": util.euclidean_sim,
    "manhattan": util.manhattan_sim,
}
OutputValue = Literal["sentence_embedding", "token_embeddings"]


class SentenceTransformer:
    """A sentence encoder with the interface of sentence-transformers; it runs on the CPU.

    Args:
        model_name_or_path: A model folder, a name on the Hub, or a name that `load_encoder` takes.
        device: Only "cpu" is possible.
        prompts: Prompts by name, instead of those of the model.
        default_prompt_name: The prompt of texts for which none is named.
        similarity_fn_name: cosine, dot, euclidean or manhattan.
        truncate_dim: How many dimensions of each embedding to keep.

    Raises:
        InvalidArgumentError: The device, a prompt or the similarity is unknown.
        InvalidFileError: There is no such model, or its files are damaged.
    """

    def __init__(
        self,
        model_name_or_path: str | Path,
        *,
        device: str | None = None,
        prompts: Mapping[str, str] | None = None,
        default_prompt_name: str | None = None,
        similarity_fn_name: str = "cosine",
        truncate_dim: int | None = None,
    ) -> None:
        _check_device(device)
        if similarity_fn_name not in SIMILARITIES:
            raise InvalidArgumentError(
                f"similarity_fn_name must be one of {', '.join(SIMILARITIES)};"
                f" got '{similarity_fn_name}'"
            )
        self.similarity_fn_name, self.truncate_dim = similarity_fn_name, truncate_dim
        self.encoder = _with_prompts(
            load_encoder(_model_name(str(model_name_or_path))), prompts, default_prompt_name
        )

    def encode(
        self,
        inputs: TextLike | Iterable[TextLike],
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        output_value: OutputValue = "sentence_embedding",
        precision: str = "float32",
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: str | None = None,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
    ) -> Any:
        """One embedding per text.

        Args:
            inputs: A text, or several.
            prompt_name: The prompt to put before each text, by its name.
            prompt: The prompt itself.
            batch_size: A hint; batches are formed by the length of the texts.
            show_progress_bar: Whether to draw a progress bar.
            output_value: "sentence_embedding", or "token_embeddings" of transformers.
            precision: Only "float32" is possible.
            convert_to_numpy: Whether the result is an array, and not a list of tensors.
            convert_to_tensor: Whether the result is a tensor.
            device: Only "cpu" is possible.
            normalize_embeddings: Scale each embedding to length one.
            truncate_dim: How many dimensions to keep, instead of those of the model.

        Returns:
            [texts, dim], or [dim] for a single text.

        Raises:
            InvalidArgumentError: An argument is invalid.
        """
        _check_device(device)
        if precision != "float32":
            raise InvalidArgumentError(
                f"precision '{precision}' is not supported: embeddings are float32; a model named"
                " 'name:quantized' computes in integers"
            )
        texts = list(strings([inputs] if isinstance(inputs, str) else inputs))
        encoder = self._prompted(prompt_name, prompt)
        rows: list[Float32Array] | Float32Array
        if output_value == "token_embeddings":
            rows = _token_embeddings(encoder, texts, normalize_embeddings)
        else:
            reporter = ProgressReporter() if show_progress_bar else DEFAULT_REPORTER
            vectors = encoder.encode(texts, reporter=reporter)
            vectors = np.ascontiguousarray(vectors[:, : truncate_dim or self.truncate_dim])
            rows = l2_normalize(vectors) if normalize_embeddings else vectors
        if convert_to_tensor or not convert_to_numpy:
            return _as_tensors(rows[0] if isinstance(inputs, str) else rows, convert_to_tensor)
        return rows[0] if isinstance(inputs, str) else rows

    def encode_query(self, inputs: TextLike | Iterable[TextLike], **arguments: Any) -> Any:
        """`encode` with the model's prompt for queries, if it has one."""
        return self.encode(inputs, **self._prompt_for(QUERY_NAMES, arguments))

    def encode_document(self, inputs: TextLike | Iterable[TextLike], **arguments: Any) -> Any:
        """`encode` with the model's prompt for documents, if it has one."""
        return self.encode(inputs, **self._prompt_for(DOCUMENT_NAMES, arguments))

    @cached_property
    def similarity(self) -> util.Similarity:
        """The similarity of each row of one matrix with each row of another, [n, m]."""
        return SIMILARITIES[self.similarity_fn_name]

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """The similarity of each row of one matrix with the same row of another, [n]."""
        if self.similarity_fn_name == "cosine":
            return util.pairwise_cos_sim(embeddings1, embeddings2)
        if self.similarity_fn_name == "dot":
            return util.pairwise_dot_score(embeddings1, embeddings2)
        raise InvalidArgumentError(
            f"pairwise similarity is by cosine or dot product, not {self.similarity_fn_name}"
        )

    def get_sentence_embedding_dimension(self) -> int:
        """The dimension of an embedding."""
        return min(self.encoder.dim, self.truncate_dim or self.encoder.dim)

    get_embedding_dimension = get_sentence_embedding_dimension

    @property
    def max_seq_length(self) -> int | None:
        """The tokens of a text that a transformer reads; None for other encoders."""
        if not isinstance(self.encoder, ContextualEncoder):
            return None
        return self.encoder.tokenizer.max_length

    @property
    def prompts(self) -> Mapping[str, str]:
        """The prompts of a transformer by name."""
        return self.encoder.prompts if isinstance(self.encoder, ContextualEncoder) else {}

    def __repr__(self) -> str:
        return f"SentenceTransformer({self.encoder!r})"

    def _prompted(self, name: str | None, prompt: str | None) -> Encoder:
        """The encoder with the prompt that a call asks for."""
        if prompt is not None:
            return with_prompt(self.encoder, prompt)
        if name is None:
            return self.encoder
        if name not in self.prompts:
            known = ", ".join(self.prompts) or "none"
            raise InvalidArgumentError(f"the model has no prompt '{name}': it has {known}")
        return with_prompt(self.encoder, self.prompts[name])

    def _prompt_for(self, names: tuple[str, ...], arguments: dict[str, Any]) -> dict[str, Any]:
        if "prompt" in arguments or "prompt_name" in arguments:
            return arguments
        own = next((self.prompts[name] for name in names if name in self.prompts), "")
        return {**arguments, "prompt": own}


def _model_name(name: str) -> str:
    """The name for `load_encoder`: hub names without an owner belong to sentence-transformers."""
    packaged = PACKAGED.get(name.removeprefix("sentence-transformers/").lower())
    if packaged and not Path(name).exists():
        return packaged
    return name if is_encoder(name) or Path(name).exists() else f"sentence-transformers/{name}"


def _with_prompts(
    encoder: Encoder, prompts: Mapping[str, str] | None, default: str | None
) -> Encoder:
    if prompts is None and default is None:
        return encoder
    if not isinstance(encoder, ContextualEncoder):
        raise InvalidArgumentError(f"{encoder.name} takes no prompts: they are for transformers")
    known = dict(encoder.prompts if prompts is None else prompts)
    if default is not None and default not in known:
        raise InvalidArgumentError(f"default_prompt_name '{default}' is not among the prompts")
    return encoder.with_prompts(known, default)


def _as_tensors(rows: list[Float32Array] | Float32Array, as_one: bool) -> Any:
    """One tensor, or a list with a tensor per row."""
    torch = require("torch", extra="train")
    if isinstance(rows, np.ndarray) and (as_one or rows.ndim == 1):
        return torch.from_numpy(rows)
    return [torch.from_numpy(row) for row in rows]


def _token_embeddings(encoder: Encoder, texts: list[str], normalize: bool) -> list[Float32Array]:
    """The last hidden states of each text's tokens, special tokens included."""
    if not isinstance(encoder, ContextualEncoder):
        raise InvalidArgumentError(f"{encoder.name} has no tokens: choose a transformer")
    rows = [tokens.matrix for tokens in encoder.activations(texts, -1).tokens(layers=-1)]
    return [l2_normalize(each) for each in rows] if normalize else rows


def _check_device(device: str | None) -> None:
    if device not in (None, "cpu"):
        raise InvalidArgumentError(f"device '{device}' is not supported: encoders run on the CPU")
