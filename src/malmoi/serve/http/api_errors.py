"""Errors as HTTP answers: the status of each error of the library, and its JSON per API."""

from collections.abc import Mapping
from typing import Any, Literal

from malmoi.errors import InvalidArgumentError, MalmoiError, UnknownWordError
from malmoi.serve.service.errors import OverloadedError, RequestError, UnknownModelError

Dialect = Literal["malmoi", "openai", "bert-as-service"]

# The first class that matches decides; an error without a row is a fault of the server (500).
STATUSES: tuple[tuple[type[Exception], int, str], ...] = (
    (OverloadedError, 503, "overloaded"),
    (UnknownModelError, 404, "model_not_found"),
    (UnknownWordError, 404, "unknown_word"),
    (InvalidArgumentError, 400, "invalid_request"),
)


class ApiError(MalmoiError):
    """An HTTP error: `code` identifies it for programs, `field` is the request's invalid field."""

    def __init__(
        self,
        status: int,
        sentence: str,
        *,
        code: str = "invalid_request",
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(sentence)
        self.status, self.code, self.field = status, code, field
        self.headers = dict(headers or {})


def default_dialect(path: str) -> Dialect:
    """The dialect of errors at a path without an endpoint."""
    return "openai" if path.startswith("/v1/") else "malmoi"


def to_api_error(error: Exception) -> ApiError | None:
    """Translate an error of the library; `None` if it is a fault of the server."""
    if isinstance(error, ApiError):
        return error
    for kind, status, code in STATUSES:
        if isinstance(error, kind):
            field = None
            if isinstance(error, RequestError):
                code, field = error.code, error.field
            retry_after = error.retry_after if isinstance(error, OverloadedError) else None
            headers = {} if retry_after is None else {"retry-after": str(retry_after)}
            return ApiError(status, str(error), code=code, field=field, headers=headers)
    return None


def error_body(error: ApiError, dialect: Dialect) -> dict[str, Any]:
    """The JSON of an error."""
    message = str(error)
    if dialect == "openai":
        return {
            "error": {
                "message": message,
                "type": openai_error_type(error.status),
                "param": error.field,
                "code": error.code,
            }
        }
    if dialect == "bert-as-service":
        return {"description": message, "type": error.code, "status": error.status}
    return {"error": {"status": error.status, "code": error.code, "message": message}}


def openai_error_type(status: int) -> str:
    """The `type` of an error in OpenAI's API."""
    if status == 401:
        return "authentication_error"
    if status == 429:
        return "rate_limit_error"
    return "invalid_request_error" if status < 500 else "server_error"
