"""Errors of the service: requests that it rejects, overload, clients that disconnect.

Knows nothing of HTTP: `http/api_errors.py` has the table of statuses.
"""

from malmoi.errors import InvalidArgumentError, MalmoiError


class RequestError(InvalidArgumentError):
    """A request that breaks a limit or does not fit the model.

    `code` identifies the error for programs; `field` names the field of the request.
    """

    def __init__(
        self, sentence: str, *, code: str = "invalid_request", field: str | None = None
    ) -> None:
        super().__init__(sentence)
        self.code, self.field = code, field


class UnknownModelError(RequestError):
    """A request names a model that the server does not have."""

    def __init__(self, name: str, known: list[str]) -> None:
        sentence = f"model '{name}' does not exist: choose one of {', '.join(known)}"
        super().__init__(sentence, code="model_not_found", field="model")


class OverloadedError(MalmoiError):
    """Backpressure: the queue or the memory is full; `retry_after` is in seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"the server is overloaded: try again in {retry_after} s")
        self.retry_after = retry_after


class ClientDisconnectedError(Exception):
    """The client closed its connection before the answer was ready."""
