"""Client: what bert-as-service's BertClient does, over HTTP to `malmoi serve`."""

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from importlib.metadata import version
from types import TracebackType
from typing import Any, Literal, Self
from uuid import uuid4

import numpy as np

from malmoi.client.answers import (
    EncodeResult,
    FetchedTokens,
    FetchedVectors,
    InvalidAnswerError,
    count_header,
    fetched,
    list_field,
    to_array,
    tokenized_texts,
)
from malmoi.client.connection import ServerConnection
from malmoi.errors import InvalidArgumentError, warn

TextBatch = Sequence[str] | Sequence[Sequence[str]]

TEXTS_PER_REQUEST = 256
MAX_CONNECTIONS = 4
MAX_PENDING_REQUESTS = 64  # of a generator, before its answers are fetched


class Client:
    """Embeds texts with a server; use it as a context manager, or close it.

    Args:
        ip: Host name or address of the server.
        port: Port of the server.
        port_out: Not used, with a warning: HTTP needs one port.
        output_fmt: `"ndarray"` or `"list"`.
        show_server_config: Warn with the state of the server.
        identity: Name of the client in its `status`.
        check_version: Ignored: there is one version of the protocol.
        check_length: Warn of truncated texts.
        check_token_info: Ignored: the server always has tokens to show.
        ignore_all_checks: Do not connect before the first request.
        timeout: Milliseconds to wait for an answer; -1 waits forever.
        model: Name of one of the server's models.
        api_key: Key for a server that needs one.

    Raises:
        InvalidArgumentError: `output_fmt`, `ip`, `port` or `timeout` is not valid.
        ServerUnreachableError: No server answers at the address.
    """

    def __init__(
        self,
        ip: str = "localhost",
        port: int = 8080,
        port_out: int | None = None,
        output_fmt: Literal["ndarray", "list"] = "ndarray",
        show_server_config: bool = False,
        identity: str | None = None,
        check_version: bool = True,
        check_length: bool = True,
        check_token_info: bool = True,
        ignore_all_checks: bool = False,
        timeout: int = -1,
        *,
        model: str | None = None,
        api_key: str | None = None,
    ) -> None:
        if output_fmt not in ("ndarray", "list"):
            raise InvalidArgumentError(
                f"output_fmt must be one of ndarray, list; got '{output_fmt}'"
            )
        check_address(ip, port, timeout)
        if port_out is not None:
            warn(f"port_out={port_out} is not used: requests and answers share port {port}")
        self.ip, self.port, self.port_out, self.output_fmt = ip, port, port_out, output_fmt
        self.identity = identity or uuid4().hex
        self.timeout, self.model = timeout, model
        self.request_id = 0
        self.pending_request: set[int] = set()
        self._check_length = check_length and not ignore_all_checks
        self._lock = threading.Lock()
        self._server = ServerConnection(ip, port, timeout, api_key)
        self._pool = ThreadPoolExecutor(MAX_CONNECTIONS, thread_name_prefix="malmoi-client")
        self._pending: dict[Future[EncodeResult], int] = {}
        self._num_senders = 0  # threads that may still add pending requests
        self._sender_errors: list[Exception] = []
        self._is_closed = False
        if not ignore_all_checks or show_server_config:
            config = self.server_status  # raises at once if no server answers
            if show_server_config:
                warn(f"the server is {config}")

    def encode(
        self,
        texts: TextBatch,
        blocking: bool = True,
        is_tokenized: bool = False,
        show_tokens: bool = False,
    ) -> EncodeResult | None:
        """Embed texts.

        Args:
            texts: Strings (`first ||| second` is a pair), or lists of tokens.
            blocking: Wait for the vectors; otherwise `fetch` returns them later.
            is_tokenized: Whether `texts` are lists of tokens.
            show_tokens: Return the tokens of each text too.

        Returns:
            One vector per text, [texts, dim]; with `show_tokens` a tuple of vectors and tokens;
            `None` if not `blocking`.

        Raises:
            InvalidArgumentError: `texts` is not a list, or one of them is empty.
            ServerError: The server rejected the request.
            ServerUnreachableError: The server cannot be reached, or did not answer in time.
        """
        check_texts(texts, is_tokenized)
        with self._lock:
            self.request_id += 1
            request_id = self.request_id
            if not blocking:
                self.pending_request.add(request_id)
                future = self._pool.submit(
                    self._encode, request_id, texts, is_tokenized, show_tokens
                )
                self._pending[future] = request_id
                return None
        return self._encode(request_id, texts, is_tokenized, show_tokens)

    def fetch(self, delay: float = 0.0) -> Iterator[FetchedVectors | FetchedTokens]:
        """Yield the results of all requests with `blocking=False`, in the order of arrival.

        Args:
            delay: Seconds to wait first.

        Yields:
            The id of each request (the first is 1), its vectors, and its tokens if requested.

        Raises:
            Exception: The error of a generator of `encode_async`, after the results before it.
        """
        time.sleep(delay)
        while self._pending or self._num_senders:
            done, _ = wait(list(self._pending), timeout=0.05, return_when=FIRST_COMPLETED)
            if not done:
                time.sleep(0.001)
            for future in done:
                request_id = self._pending.pop(future)
                self.pending_request.discard(request_id)
                yield fetched(request_id, future.result())
        if self._sender_errors:
            raise self._sender_errors.pop(0)

    def fetch_all(self, sort: bool = True, concat: bool = False) -> Any:
        """Return the vectors of all pending requests at once.

        Args:
            sort: Order them by request instead of arrival.
            concat: Return one matrix, or one list, of all vectors.

        Returns:
            One entry per request; `None` if no request is pending.
        """
        results = list(self.fetch())
        if not results:
            return None
        if sort:
            results.sort(key=lambda result: result.id)
        vectors = [result.embedding for result in results]
        if not concat:
            return vectors
        if self.output_fmt == "list":
            return [row for rows in vectors for row in rows]
        return np.concatenate(vectors)

    def encode_async(
        self,
        batch_generator: Iterable[TextBatch],
        max_num_batch: int | None = None,
        delay: float = 0.1,
        **options: bool,
    ) -> Iterator[FetchedVectors | FetchedTokens]:
        """Embed the batches of a generator, which is read only a few batches ahead.

        Args:
            batch_generator: Yields lists of texts.
            max_num_batch: Stop after so many batches.
            delay: Seconds before the first fetch.
            options: `is_tokenized` and `show_tokens` of `encode`.

        Returns:
            The results as `fetch` yields them.
        """
        self._num_senders += 1

        def send() -> None:
            try:
                for number, texts in enumerate(batch_generator, start=1):
                    self.encode(texts, blocking=False, **options)
                    if number == max_num_batch:
                        return
                    while len(self._pending) >= MAX_PENDING_REQUESTS and not self._is_closed:
                        time.sleep(0.01)
            except Exception as error:
                if not self._is_closed:
                    self._sender_errors.append(error)
            finally:
                self._num_senders -= 1

        threading.Thread(target=send, daemon=True).start()
        return self.fetch(delay)

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """Split texts into tokens by the model's tokenizer.

        Args:
            texts: The texts.

        Returns:
            The tokens of each text, with special tokens.

        Raises:
            ServerError: The server rejected the request.
        """
        return [text["tokens"] for text in self._tokenize(texts)]

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of texts.

        Args:
            texts: The texts.

        Returns:
            The number of tokens of each text, with special tokens.

        Raises:
            ServerError: The server rejected the request.
        """
        return [len(text["ids"]) for text in self._tokenize(texts)]

    @property
    def server_status(self) -> dict[str, Any]:
        """The state of the server."""
        return self._server.request("GET", "/status/server").body

    @property
    def status(self) -> dict[str, Any]:
        """The settings of this client and the number of its requests."""
        return {
            "identity": self.identity,
            "num_request": self.request_id,
            "num_pending_request": len(self.pending_request),
            "pending_request": self.pending_request,
            "output_fmt": self.output_fmt,
            "port": self.port,
            "port_out": self.port_out,
            "server_ip": self.ip,
            "client_version": version("malmoi"),
            "timeout": self.timeout,
        }

    def close(self) -> None:
        """Cancel pending requests and close the connections."""
        self._is_closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _encode(
        self, request_id: int, texts: TextBatch, is_tokenized: bool, show_tokens: bool
    ) -> EncodeResult:
        rows, tokens = list[list[float]](), list[list[str]]()
        truncated = fragmented = 0
        for start in range(0, len(texts), TEXTS_PER_REQUEST):
            chunk = list(texts[start : start + TEXTS_PER_REQUEST])
            payload = {
                "id": request_id,
                "texts": chunk,
                "is_tokenized": is_tokenized,
                "show_tokens": show_tokens,
                "model": self.model,
            }
            answer, headers = self._server.request("POST", "/encode", payload)
            try:
                rows += list_field(answer, "result", len(chunk))
                tokens += list_field(answer, "tokens", len(chunk)) if show_tokens else []
            except InvalidAnswerError as error:
                raise self._server.invalid_answer(error) from error
            truncated += count_header(headers.get("x-truncated-texts", ""))
            fragmented += count_header(headers.get("x-fragmented-texts", ""))
        self._warn_of_inputs(len(texts), truncated if self._check_length else 0, fragmented)
        try:
            vectors = rows if self.output_fmt == "list" else to_array(rows)
        except InvalidAnswerError as error:
            raise self._server.invalid_answer(error) from error
        return (vectors, tokens) if show_tokens else vectors

    def _warn_of_inputs(self, total: int, truncated: int, fragmented: int) -> None:
        if truncated:
            warn(f"{truncated:,} of {total:,} texts are longer than the model reads: truncated")
        if fragmented:
            warn(
                f"{fragmented:,} of {total:,} texts are mostly words that the model knows only"
                " as single letters, bytes or unknown tokens: their vectors mean little"
            )

    def _tokenize(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        check_texts(texts, False)
        payload = {"texts": list(texts), "model": self.model}
        answer = self._server.request("POST", "/tokenize", payload).body
        try:
            return tokenized_texts(answer, len(texts))
        except InvalidAnswerError as error:
            raise self._server.invalid_answer(error) from error


BertClient = Client  # the name that users of bert-as-service know


def check_address(ip: str, port: int, timeout: int) -> None:
    """Reject a URL in place of a host name, and a port or timeout that is not an integer."""
    if not isinstance(ip, str) or "/" in ip or ip.count(":") == 1:
        raise InvalidArgumentError(
            f"ip is {ip!r}: give a host name or address alone, such as localhost, and port=8080"
        )
    for name, value in (("port", port), ("timeout", timeout)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise InvalidArgumentError(f"{name} must be an integer; got {value!r}")
    if not 0 < port < 65536:
        raise InvalidArgumentError(f"port must be from 1 to 65535; got {port}")


def check_texts(texts: TextBatch, is_tokenized: bool) -> None:
    """Reject what BertClient rejects: not a list, an empty list, or an empty text."""
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise InvalidArgumentError(f"texts must be a list, not {type(texts).__name__}")
    if not texts:
        raise InvalidArgumentError("texts is empty: give at least one text")
    for index, text in enumerate(texts):
        if is_tokenized:
            if isinstance(text, str) or not all(isinstance(token, str) for token in text):
                raise InvalidArgumentError(
                    f"text {index} must be a list of tokens, because is_tokenized is true"
                )
        elif not isinstance(text, str):
            raise InvalidArgumentError(f"text {index} must be a string, not {type(text).__name__}")
        if not (text.strip() if isinstance(text, str) else text):
            raise InvalidArgumentError(f"text {index} is empty")
