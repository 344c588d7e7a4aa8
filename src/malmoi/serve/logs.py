"""The log: one line of JSON per event, never a text of a user."""

import logging
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

import orjson


class Log:
    """Writes lines of JSON to a stream; to none if it is `None`."""

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
        except (OSError, ValueError):  # the stream is closed: serve on without a log
            self._stream = None


class UvicornLogHandler(logging.Handler):
    """Writes uvicorn's warnings and errors to the log."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line; an exception by its type alone, for its message may quote a text."""
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        self._log("server", level=record.levelname, message=record.getMessage(), error=kind)
