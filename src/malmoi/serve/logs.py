"""What the server writes down: a line of JSON for each event, never a user's text."""

import logging
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

import orjson


class Log:
    """Lines of JSON to a stream, or nowhere."""

    def __init__(self, stream: TextIO | None = sys.stderr) -> None:
        self._stream = stream

    def __call__(self, event: str, **details: Any) -> None:
        """Write one line."""
        if self._stream is None:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = orjson.dumps({"time": now, "event": event, **details}).decode()
        try:
            self._stream.write(f"{line}\n")
            self._stream.flush()
        except (OSError, ValueError):  # nobody reads any more: answering goes on
            self._stream = None


class Forwarding(logging.Handler):
    """What uvicorn has to say, as lines of the log."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line; of an exception its kind alone, for it may quote a text."""
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        self._log("server", level=record.levelname, message=record.getMessage(), error=kind)
