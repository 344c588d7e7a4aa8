"""Records of a source as the entries of an index: which field is the id, which are kept."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from unicodedata import is_normalized

from malmoi.errors import InvalidFileError, MalmoiWarning
from malmoi.search.storage.segment import Entry
from malmoi.text.normalize import Normalizer
from malmoi.text.records import Record, read_records


@dataclass(frozen=True, kw_only=True)
class RecordSource:
    """Where texts come from.

    `text` are the fields that make the text, `id` the field that tells texts apart (otherwise
    their places do), `keep` the other fields to keep (all of them, where none is named). With
    `whole`, a plain file is one text.
    """

    text: tuple[str, ...] = ()
    id: str | None = None
    keep: tuple[str, ...] = ()
    encoding: str = "utf-8"
    whole: bool = False

    def entries(self, source: str | Path) -> list[Entry]:
        """All texts; what is empty or had to be composed is told."""
        records = read_records(source, fields=self.text, encoding=self.encoding, whole=self.whole)
        empty, found = 0, list[Entry]()
        apart, uniform = 0, Normalizer()
        for record in records:
            text = uniform(record.text).strip()
            if not text:
                empty += 1
                continue
            apart += not is_normalized("NFC", record.text)
            found.append(Entry(uniform(self._id(record)), text, self._fields(record)))
        if not found:
            raise InvalidFileError(f"{source} holds no text")
        for count, what in (
            (empty, "are empty and left out"),
            (apart, "were not in NFC and now are"),
        ):
            if count:
                warnings.warn(f"{source}: {count:,} texts {what}", MalmoiWarning, stacklevel=2)
        return found

    def _id(self, record: Record) -> str:
        if self.id is None:
            return record.location
        if record.fields.get(self.id) is None:
            raise InvalidFileError(f"{record.location}: there is no field '{self.id}' for an id")
        return str(record.fields[self.id])

    def _fields(self, record: Record) -> dict[str, object]:
        names = self.keep or [name for name in record.fields if name != self.id]
        return {name: record.fields[name] for name in names if record.fields.get(name) is not None}
