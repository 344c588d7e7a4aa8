"""How commands print the path of an index."""

from malmoi.search.storage.address import is_postgres, parse_address


def shown_path(path: str) -> str:
    """A folder as it is, and the URL of a database without its password."""
    return str(parse_address(path)) if is_postgres(path) else path
