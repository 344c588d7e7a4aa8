"""PostgresAddress: the URL of an index in a database, and its options.

    postgresql://user:password@host:5432/database?table=faq&vector_index=halfvec

`table` (`malmoi` by default) names the tables of the index, which may be in a schema:
`search.faq`. `vector_index` is the kind of approximate index, used when it is created. All other
parameters are those of libpq. Does not import the driver.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from malmoi.errors import InvalidArgumentError

VectorIndexKind = Literal["vector", "halfvec", "binary"]
SCHEMES = ("postgresql://", "postgres://")
DEFAULT_TABLE = "malmoi"
MAX_TABLE_BYTES = 40  # PostgreSQL's names have 63, and ours add suffixes


@dataclass(frozen=True)
class PostgresAddress:
    """A database and the name of an index in it; `conninfo` may hold a password."""

    conninfo: str
    table: str = DEFAULT_TABLE
    schema: str | None = None
    vector_index: VectorIndexKind = "vector"

    def __str__(self) -> str:
        """The address without its password."""
        parts = urlsplit(self.conninfo)
        user, at, host = parts.netloc.rpartition("@")
        name = user.partition(":")[0] + at + host
        return f"{parts.scheme}://{name}{parts.path}, table {self.name}"

    @property
    def name(self) -> str:
        """The name of the index, with its schema."""
        return f"{self.schema}.{self.table}" if self.schema else self.table


def is_postgres(path: object) -> bool:
    """Whether a path is the URL of a database."""
    return isinstance(path, str) and path.startswith(SCHEMES)


def path_or_url(path: str) -> str | Path:
    """A URL as it is, anything else as a path."""
    return path if is_postgres(path) else Path(path)


def shown_path(path: str) -> str:
    """A path as it is, and an address without its password."""
    return str(parse_address(path)) if is_postgres(path) else path


def parse_address(url: str) -> PostgresAddress:
    """Parse the URL of an index; raises `InvalidArgumentError` if it is not one."""
    parts = urlsplit(url)
    given = parse_qsl(parts.query, keep_blank_values=True)
    known = {name: value for name, value in given if name in ("table", "vector_index")}
    rest = [(name, value) for name, value in given if name not in known]
    schema, dot, table = known.get("table", DEFAULT_TABLE).rpartition(".")
    for name in (schema, table) if dot else (table,):
        if not name or "\0" in name or len(name.encode("utf-8", "replace")) > MAX_TABLE_BYTES:
            raise InvalidArgumentError(
                f"'{known['table']}' is not the name of a table: write ?table=NAME, or"
                f" ?table=SCHEMA.NAME, of at most {MAX_TABLE_BYTES} bytes each"
            )
    kind = known.get("vector_index", "vector")
    if kind not in get_args(VectorIndexKind):
        raise InvalidArgumentError(
            f"vector_index is '{kind}': choose {', '.join(get_args(VectorIndexKind))}"
        )
    conninfo = urlunsplit(parts._replace(query=urlencode(rest)))
    return PostgresAddress(conninfo, table, schema or None, cast(VectorIndexKind, kind))
