"""A client for `malmoi serve` that does what bert-as-service's BertClient did, over HTTP.

Knows nothing of models: NumPy and the standard library are all it needs.
"""

import http.client
import json
import math
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from importlib.metadata import version
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from malmoi.client.answers import count_of, seconds_of, sentence_of
from malmoi.errors import InvalidArgumentError, MalmoiError, MalmoiWarning

Texts = Sequence[str] | Sequence[Sequence[str]]
Vectors = npt.NDArray[np.float32] | list[list[float]]
Encoded = Vectors | tuple[Vectors, list[list[str]]]

AT_ONCE = 256  # texts in one request; more are split
CONNECTIONS = 4
AHEAD = 64  # requests of a generator that are sent before answers are fetched
OVERLOADED = 503
PART, LARGEST = 1 << 20, 1 << 30  # bytes of an answer that are read at a time, and at most


class ServerError(MalmoiError, ValueError):
    """The server's own sentence on why it did not answer."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class ServerUnreachableError(MalmoiError, ConnectionError):
    """No server, or one that went away."""


class ServerTimeoutError(ServerUnreachableError, TimeoutError):
    """No answer within the client's `timeout`."""


class FetchedVectors(NamedTuple):
    """The vectors of one request; the first has the number 1."""

    id: int
    embedding: Any  # an array or lists, as output_fmt says


class FetchedTokens(NamedTuple):
    """The same with the pieces of each text."""

    id: int
    embedding: Any  # an array or lists, as output_fmt says
    tokens: list[list[str]]


class Client:
    """Texts to vectors by a server; use it in a `with`, or close it.

    `timeout` is in milliseconds, -1 waits for ever; `model` names one of the server's models.
    `port_out`, `check_version` and `check_token_info` are BertClient's, and nothing depends on
    them: there is one port, and one version of the protocol.
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
                f"there is no output_fmt '{output_fmt}': choose ndarray or list"
            )
        self.ip, self.port, self.port_out, self.output_fmt = ip, port, port_out, output_fmt
        self.identity = identity or uuid4().hex
        self.timeout, self.model = timeout, model
        self.request_id = 0
        self.pending_request: set[int] = set()
        self._key, self._check_length = api_key, check_length and not ignore_all_checks
        self._local, self._lock = threading.local(), threading.Lock()
        self._connections: list[http.client.HTTPConnection] = []  # one a thread
        self._pool = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="malmoi-client")
        self._waiting: dict[Future[Encoded], int] = {}
        self._sending = 0  # threads that may still add to what is waiting
        self._failures: list[Exception] = []  # of these threads
        self._closed = False
        if not ignore_all_checks or show_server_config:
            config = self.server_status  # says at once if there is no server
            if show_server_config:
                warnings.warn(f"the server is {config}", MalmoiWarning, stacklevel=2)

    def encode(
        self,
        texts: Texts,
        blocking: bool = True,
        is_tokenized: bool = False,
        show_tokens: bool = False,
    ) -> Encoded | None:
        """A vector a text, [texts, dim]; with `show_tokens` also the pieces of each.

        Texts are strings (`first ||| second` is a pair), or with `is_tokenized` lists of pieces.
        Without `blocking` there is no answer yet: `fetch` gives it.
        """
        check_texts(texts, is_tokenized)
        with self._lock:
            self.request_id += 1
            number = self.request_id
            if not blocking:
                self.pending_request.add(number)
                future = self._pool.submit(self._encode, number, texts, is_tokenized, show_tokens)
                self._waiting[future] = number
                return None
        return self._encode(number, texts, is_tokenized, show_tokens)

    def fetch(self, delay: float = 0.0) -> Iterator[FetchedVectors | FetchedTokens]:
        """What `encode` without blocking has asked for, each as soon as it is there.

        Each is the number of its request (the first is 1) and the vectors, and the pieces where
        they were asked for; in whatever order they come. What a generator fails with is raised
        once all before it is there.
        """
        time.sleep(delay)
        while self._waiting or self._sending:
            done, _ = wait(list(self._waiting), timeout=0.05, return_when=FIRST_COMPLETED)
            if not done:
                time.sleep(0.001)
            for future in done:
                number = self._waiting.pop(future)
                self.pending_request.discard(number)
                found = future.result()
                yield named(number, found)
        if self._failures:
            raise self._failures.pop(0)

    def fetch_all(self, sort: bool = True, concat: bool = False) -> Any:
        """All at once: a list of vectors a request, in their order, or one after the other.

        `None` if nothing was asked for.
        """
        found = list(self.fetch())
        if not found:
            return None
        ordered = [one[1] for one in (sorted(found, key=lambda one: one[0]) if sort else found)]
        if not concat:
            return ordered
        if self.output_fmt == "list":
            return [row for rows in ordered for row in rows]
        return np.concatenate(ordered)

    def encode_async(
        self,
        batch_generator: Iterable[Texts],
        max_num_batch: int | None = None,
        delay: float = 0.1,
        **options: bool,
    ) -> Iterator[FetchedVectors | FetchedTokens]:
        """Lists of texts as they come, and their vectors as they are ready, as `fetch` has them.

        No more of them are taken than a few ahead of what is fetched.
        """
        self._sending += 1

        def send() -> None:
            try:
                for number, texts in enumerate(batch_generator, start=1):
                    self.encode(texts, blocking=False, **options)
                    if number == max_num_batch:
                        return
                    while len(self._waiting) >= AHEAD and not self._closed:
                        time.sleep(0.01)
            except Exception as error:
                if not self._closed:
                    self._failures.append(error)
            finally:
                self._sending -= 1

        threading.Thread(target=send, daemon=True).start()
        return self.fetch(delay)

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """The pieces of each text."""
        return [one["pieces"] for one in self._tokenized(texts)]

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """How many pieces each text has, special ones among them."""
        return [len(one["ids"]) for one in self._tokenized(texts)]

    @property
    def server_status(self) -> dict[str, Any]:
        """What the server says of itself."""
        found: dict[str, Any] = self._ask("GET", "/status/server", None)[0]
        return found

    @property
    def status(self) -> dict[str, Any]:
        """What this client has done, and how it was made."""
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
        """Wait for nothing more."""
        self._closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            for connection in self._connections:
                connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _encode(self, number: int, texts: Texts, is_tokenized: bool, show_tokens: bool) -> Encoded:
        rows: list[list[float]] = []
        tokens: list[list[str]] = []
        truncated = fragmented = 0
        for start in range(0, len(texts), AT_ONCE):
            some = list(texts[start : start + AT_ONCE])
            asked = {
                "id": number,
                "texts": some,
                "is_tokenized": is_tokenized,
                "show_tokens": show_tokens,
                "model": self.model,
            }
            answer, headers = self._ask("POST", "/encode", asked)
            rows += self._list(answer, "result", len(some))
            if show_tokens:
                tokens += self._list(answer, "tokens", len(some))
            truncated += count_of(headers.get("x-truncated-texts", ""))
            fragmented += count_of(headers.get("x-fragmented-texts", ""))
        if truncated and self._check_length:
            text = f"{truncated:,} of {len(texts):,} texts are too long: the rest was left out"
            warnings.warn(text, MalmoiWarning, stacklevel=3)
        if fragmented:
            text = (
                f"{fragmented:,} of {len(texts):,} texts are mostly words that the model knows only"
                " as single letters, bytes or unknown tokens: their vectors mean little"
            )
            warnings.warn(text, MalmoiWarning, stacklevel=3)
        vectors = rows if self.output_fmt == "list" else self._array(rows)
        return (vectors, tokens) if show_tokens else vectors

    def _tokenized(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        check_texts(texts, False)
        asked = {"texts": list(texts), "model": self.model}
        found = self._list(self._ask("POST", "/tokenize", asked)[0], "texts", len(texts))
        for one in found:
            if not isinstance(one, dict) or not {"pieces", "ids"} <= one.keys():
                raise self._odd("a text without pieces")
        return found

    def _list(self, answer: dict[str, Any], name: str, count: int) -> list[Any]:
        """A part of an answer that must be a list of so many."""
        found = answer.get(name)
        if not isinstance(found, list) or len(found) != count:
            raise self._odd(f"no list of {count:,} as '{name}'")
        return found

    def _array(self, rows: list[list[float]]) -> npt.NDArray[np.float32]:
        try:
            found = np.array(rows, np.float32)
        except (ValueError, TypeError) as error:
            raise self._odd("vectors that are no numbers, or of different lengths") from error
        if found.ndim != 2 or not np.isfinite(found).all():
            raise self._odd("vectors that are no finite numbers")
        return found

    def _odd(self, what: str, status: int = 200) -> "ServerError":
        return ServerError(status, f"{self._place} answers {status} and {what}: is it malmoi's?")

    def _ask(self, method: str, path: str, asked: Any) -> tuple[Any, dict[str, str]]:
        """One request; a server that is too busy is asked again when it says."""
        body = None if asked is None else json.dumps(asked).encode()
        end = time.monotonic() + self.timeout / 1000 if self.timeout >= 0 else math.inf
        while True:
            status, headers, content = self._send(method, path, body)
            if status != OVERLOADED:
                break
            pause = seconds_of(headers.get("retry-after", ""))
            if time.monotonic() + pause > end:
                raise ServerTimeoutError(
                    f"{self._place} is too busy: no answer in {self.timeout} ms"
                )
            time.sleep(pause)
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise self._odd("no JSON", status) from error
        if status != 200:
            raise ServerError(status, f"the server refused: {sentence_of(answer, status)}")
        if not isinstance(answer, dict):
            raise self._odd("no JSON object")
        return answer, headers

    def _send(
        self, method: str, path: str, body: bytes | None
    ) -> tuple[int, dict[str, str], bytes]:
        headers = {"content-type": "application/json"}
        if self._key is not None:
            headers["authorization"] = f"Bearer {self._key}"
        for attempt in (1, 2):  # a connection that was left open may be closed by now
            fresh = getattr(self._local, "connection", None) is None
            try:
                connection = self._connection()
                connection.request(method, path, body, headers)
                with connection.getresponse() as found:
                    named = {name.lower(): value for name, value in found.getheaders()}
                    return found.status, named, self._content(found)
            except TimeoutError as error:
                self._disconnect()
                raise ServerTimeoutError(
                    f"no answer in {self.timeout} ms from {self._place}"
                ) from error
            except (OSError, http.client.HTTPException) as error:
                self._disconnect()
                if fresh or attempt == 2:
                    raise ServerUnreachableError(
                        f"{self._place} does not answer: {error}"
                    ) from error
        raise AssertionError("one of two attempts ends it")

    def _content(self, answer: http.client.HTTPResponse) -> bytes:
        """All of an answer, which may be of any size but not of every."""
        parts, size = list[bytes](), 0
        while part := answer.read(PART):
            parts.append(part)
            size += len(part)
            if size > LARGEST:
                self._disconnect()
                raise self._odd(f"more than {LARGEST:,} bytes", answer.status)
        if answer.length:  # what was announced and did not come
            raise http.client.IncompleteRead(b"", answer.length)
        return b"".join(parts)

    def _connection(self) -> http.client.HTTPConnection:
        found: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if found is None:
            seconds = None if self.timeout < 0 else self.timeout / 1000
            found = http.client.HTTPConnection(self.ip, self.port, timeout=seconds)
            self._local.connection = found
            with self._lock:
                self._connections.append(found)
        return found

    def _disconnect(self) -> None:
        found = getattr(self._local, "connection", None)
        if found is not None:
            found.close()
            self._local.connection = None
            with self._lock:
                self._connections.remove(found)

    @property
    def _place(self) -> str:
        return f"the server at {self.ip}:{self.port}"


def named(number: int, found: Encoded) -> FetchedVectors | FetchedTokens:
    """What was asked for, by its names."""
    return (
        FetchedTokens(number, *found) if isinstance(found, tuple) else FetchedVectors(number, found)
    )


def check_texts(texts: Texts, is_tokenized: bool) -> None:
    """Refuse what BertClient refuses: no list, an empty one, or a text without any character."""
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise InvalidArgumentError(f"texts must be a list, not {type(texts).__name__}")
    if not texts:
        raise InvalidArgumentError("texts must have at least one text")
    for place, text in enumerate(texts):
        if is_tokenized:
            if isinstance(text, str) or not all(isinstance(piece, str) for piece in text):
                raise InvalidArgumentError(
                    f"text {place} must be a list of pieces: is_tokenized says so"
                )
        elif not isinstance(text, str):
            raise InvalidArgumentError(f"text {place} must be a string, not {type(text).__name__}")
        if not (text.strip() if isinstance(text, str) else text):
            raise InvalidArgumentError(f"text {place} is empty")
