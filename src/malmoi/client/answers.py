"""What a client takes from answers; it trusts nothing in them, whichever server sent them."""

from typing import Any, NamedTuple

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.errors import MalmoiError

MAX_RETRY_AFTER = 10.0  # seconds

VectorRows = Float32Array | list[list[float]]
EncodeResult = VectorRows | tuple[VectorRows, list[list[str]]]


class InvalidAnswerError(MalmoiError):
    """An answer that is not one of `malmoi serve`; the message completes "and …"."""


class FetchedVectors(NamedTuple):
    """The vectors of one request; the id of the first request is 1."""

    id: int
    embedding: Any  # an array or lists, as output_fmt says


class FetchedTokens(NamedTuple):
    """The vectors of one request, and the tokens of each of its texts."""

    id: int
    embedding: Any  # an array or lists, as output_fmt says
    tokens: list[list[str]]


def fetched(request_id: int, result: EncodeResult) -> FetchedVectors | FetchedTokens:
    """The result of one request with its id."""
    if isinstance(result, tuple):
        return FetchedTokens(request_id, *result)
    return FetchedVectors(request_id, result)


def list_field(answer: dict[str, Any], name: str, length: int) -> list[Any]:
    """A field of an answer that must be a list of this length."""
    value = answer.get(name)
    if not isinstance(value, list) or len(value) != length:
        raise InvalidAnswerError(f"no list of {length:,} as '{name}'")
    return value


def tokenized_texts(answer: dict[str, Any], length: int) -> list[dict[str, Any]]:
    """The texts of an answer of /tokenize, each with `tokens` and `ids`."""
    texts = list_field(answer, "texts", length)
    for text in texts:
        if not isinstance(text, dict) or not {"tokens", "ids"} <= text.keys():
            raise InvalidAnswerError("a text without tokens")
    return texts


def to_array(rows: list[list[float]]) -> Float32Array:
    """Rows of finite numbers as an array [texts, dim]."""
    try:
        array: Float32Array = np.array(rows, np.float32)
    except (ValueError, TypeError) as error:
        raise InvalidAnswerError("vectors of different lengths, or of other values") from error
    if array.ndim != 2 or not np.isfinite(array).all():
        raise InvalidAnswerError("vectors that are not finite")
    return array


def error_message(answer: Any, status: int) -> str:
    """The message of an error answer, in any of the server's dialects."""
    message = answer.get("description") if isinstance(answer, dict) else None
    error = answer.get("error") if isinstance(answer, dict) else None
    message = message or (error.get("message") if isinstance(error, dict) else error)
    return message if isinstance(message, str) else f"status {status} without a message"


def count_header(value: str) -> int:
    """The number in a header; 0 if it is not a number."""
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 16 else 0


def retry_seconds(retry_after: str) -> float:
    """How long to wait by the header Retry-After; one second if it is a date."""
    return min(float(retry_after), MAX_RETRY_AFTER) if retry_after.isdecimal() else 1.0
