"""What a request is told that cannot be answered: a status and one sentence, in its dialect."""

from collections.abc import Mapping
from typing import Any, Literal

from malmoi.errors import InvalidArgumentError, MalmoiError, UnknownWordError
from malmoi.serve.service.batching import OverloadedError

Dialect = Literal["malmoi", "openai", "bert-as-service"]


class ApiError(MalmoiError):
    """A request that is answered with an error.

    `code` is a word for programs; `parameter` names the part of the request that is wrong.
    """

    def __init__(
        self,
        status: int,
        sentence: str,
        *,
        code: str = "invalid_request",
        parameter: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(sentence)
        self.status, self.code, self.parameter = status, code, parameter
        self.headers = dict(headers or {})


def dialect_of(path: str) -> Dialect:
    """How a path is answered where there is nothing."""
    return "openai" if path.startswith("/v1/") else "malmoi"


def as_refusal(error: Exception) -> ApiError | None:
    """The refusal that an error of the library amounts to; `None` if it is a fault of ours."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, OverloadedError):
        headers = {"retry-after": str(error.retry_after)}
        return ApiError(503, str(error), code="overloaded", headers=headers)
    if isinstance(error, UnknownWordError):
        return ApiError(404, str(error), code="unknown_word")
    if isinstance(error, InvalidArgumentError):
        return ApiError(400, str(error))
    return None


def refusal_body(refused: ApiError, dialect: Dialect) -> dict[str, Any]:
    """The refusal as JSON."""
    sentence = str(refused)
    if dialect == "openai":
        return {
            "error": {
                "message": sentence,
                "type": openai_type(refused.status),
                "param": refused.parameter,
                "code": refused.code,
            }
        }
    if dialect == "bert-as-service":
        return {"description": sentence, "type": refused.code, "status": refused.status}
    return {"error": {"status": refused.status, "code": refused.code, "message": sentence}}


def openai_type(status: int) -> str:
    """The type of an error in OpenAI's answers."""
    if status == 401:
        return "authentication_error"
    if status == 429:
        return "rate_limit_error"
    return "invalid_request_error" if status < 500 else "server_error"
