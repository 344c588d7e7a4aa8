"""Connections to a database, and its errors as one sentence each."""

import os
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import psycopg
from psycopg import errors
from psycopg.rows import TupleRow

from malmoi.errors import InvalidFileError, MalmoiError, shorten
from malmoi.search.index import StaleStateError
from malmoi.search.storage.address import PostgresAddress

PgConnection = psycopg.Connection[TupleRow]
IdleConnection = tuple[PgConnection, float, int]  # since when, and of which process
INHERITED: list[PgConnection] = []
CONNECT_SECONDS = 10
TRUSTED_SECONDS = 1.0  # a connection that was idle for longer is checked before it is used
MAX_IDLE = 8
MAX_MESSAGE = 200  # characters of a message of the server


class Database:
    """Connections to a database that threads share; each statement is committed by default."""

    def __init__(self, address: PostgresAddress) -> None:
        self.address = address
        self._idle: list[IdleConnection] = []
        self._lock = Lock()
        weakref.finalize(self, _close, self._idle)

    @contextmanager
    def connection(self) -> Iterator[PgConnection]:
        """A connection of one's own; errors of the server become those of malmoi."""
        with readable_errors(self.address):
            reused = self._reused()
            connection = reused or self._opened()
            try:
                yield connection
            except BaseException as error:
                is_lost = connection.broken
                connection.close()  # rolls back
                if reused and is_lost and isinstance(error, psycopg.OperationalError):
                    self.close()  # the others are lost as well
                    raise StaleStateError(_sentence(self.address, error)) from error
                raise
            self._return(connection)

    @contextmanager
    def transaction(self, *, snapshot: bool = False) -> Iterator[PgConnection]:
        """A connection in a transaction, which is committed at the end.

        With `snapshot`, all statements see the database as it is now.
        """
        with self.connection() as connection, connection.transaction():
            if snapshot:
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield connection

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            _close(self._idle)

    def _opened(self) -> PgConnection:
        connection = psycopg.connect(
            self.address.conninfo,
            autocommit=True,
            connect_timeout=CONNECT_SECONDS,
            application_name="malmoi",
            client_encoding="utf8",
        )
        connection.execute("SET client_min_messages = warning; SET jit = off")
        return connection

    def _reused(self) -> PgConnection | None:
        """An idle connection that still answers, of this process."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection, since, process = self._idle.pop()
            if process != os.getpid():
                INHERITED.append(connection)  # by a fork: closing it would end that of the parent
                continue
            if time.monotonic() - since < TRUSTED_SECONDS and not connection.closed:
                return connection
            try:
                connection.execute("SELECT 1")
            except psycopg.Error:
                connection.close()
                continue
            return connection

    def _return(self, connection: PgConnection) -> None:
        with self._lock:
            if len(self._idle) < MAX_IDLE:
                self._idle.append((connection, time.monotonic(), os.getpid()))
                return
        connection.close()


def _close(idle: list[IdleConnection]) -> None:
    while idle:
        connection, _, process = idle.pop()
        if process == os.getpid():
            connection.close()
        else:
            INHERITED.append(connection)


@contextmanager
def readable_errors(address: PostgresAddress) -> Iterator[None]:
    """Turn errors of the driver into an `InvalidFileError` of one sentence."""
    try:
        yield
    except MalmoiError:
        raise
    except errors.UndefinedTable as error:
        raise StaleStateError(_sentence(address, error)) from error
    except psycopg.Error as error:
        raise InvalidFileError(_sentence(address, error)) from error


def _sentence(address: PostgresAddress, error: psycopg.Error) -> str:
    lines = str(error).strip().splitlines()
    why = shorten(lines[-1] if isinstance(error, psycopg.OperationalError) and lines
                  else lines[0] if lines else type(error).__name__, MAX_MESSAGE)  # fmt: skip
    if isinstance(error, errors.InsufficientPrivilege):
        return f"{address}: this user may not do that ({why}): grant it, or name another user"
    if isinstance(error, errors.FeatureNotSupported | errors.UndefinedFile) and "vector" in why:
        return f"{address}: the server has no pgvector ({why}): install the extension there"
    if isinstance(error, psycopg.OperationalError) and error.sqlstate is None:
        return f"{address} cannot be reached ({why}): check the address and that the server runs"
    if isinstance(error, psycopg.ProgrammingError) and error.sqlstate is None:
        return f"{address.table}: the address of its database is not valid ({why})"
    return f"{address}: {why}"
