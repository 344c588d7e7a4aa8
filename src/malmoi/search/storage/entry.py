"""Entry: a text of an index with its id and fields.

Ids are stored as strings. Integers are converted, so that the ids of a database or a table need no
preparation; numbers with a fraction, booleans and missing values are refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from malmoi.errors import InvalidArgumentError, shorten
from malmoi.search.storage.columns import Fields

EntryId = str | int
MAX_QUOTED = 60  # characters of a text in a message


@dataclass(frozen=True)
class Entry:
    """A text of an index with its id and fields.

    Args:
        id: A string, or an integer, which is stored as a string.
        text: The text.
        fields: Values by name, for filters.

    Raises:
        InvalidArgumentError: The id is neither a string nor an integer.
    """

    id: str
    text: str
    fields: Fields = field(default_factory=dict)

    if TYPE_CHECKING:

        def __init__(self, id: EntryId, text: str, fields: Mapping[str, Any] = ...) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.id, str):
            quoted = shorten(str(self.text), MAX_QUOTED)
            object.__setattr__(self, "id", id_as_text(self.id, f"of the text '{quoted}'"))


def id_as_text(id: object, where: str) -> str:
    """An id as it is stored; `where` says in a message which id it is.

    Raises `InvalidArgumentError` for what is neither a string nor an integer.
    """
    if isinstance(id, str):
        return id
    if isinstance(id, int | np.integer) and not isinstance(id, bool):
        return str(int(id))
    reason = ""
    if isinstance(id, float | np.floating):
        reason = " (missing values turn a column of integers into floats)"
    raise InvalidArgumentError(f"the id {where} is {id!r}: ids are strings or integers{reason}")
