"""Entries of an index: from lists in Python, or from the records of a file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unicodedata import is_normalized

from malmoi.arguments import expect
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.search.storage.columns import Fields
from malmoi.search.storage.entry import Entry, EntryId, id_as_text
from malmoi.text.normalize import Normalizer
from malmoi.text.records import Record, read_records
from malmoi.text_inputs import TextLike, iterate, strings
from malmoi.unicode import normalize


@dataclass(frozen=True, kw_only=True)
class RecordSource:
    """Which fields of a record become the text, the id and the stored fields of an entry.

    `text` are the fields that make up the text, `id` is the field of the id (without it, the
    position of the record), `keep` are the other fields to store (all, if empty). With `whole`,
    a plain text file is one text.
    """

    text: tuple[str, ...] = ()
    id: str | None = None
    keep: tuple[str, ...] = ()
    encoding: str = "utf-8"
    whole: bool = False

    def entries(self, source: str | Path, *, reporter: Reporter = DEFAULT_REPORTER) -> list[Entry]:
        """Read all entries; warn of texts that are empty or were not in NFC."""
        records = read_records(source, fields=self.text, encoding=self.encoding, whole=self.whole)
        empty, entries = 0, list[Entry]()
        denormalized, normalizer = 0, Normalizer()
        for record in records:
            text = normalizer(record.text).strip()
            if not text:
                empty += 1
                continue
            denormalized += not is_normalized("NFC", record.text)
            entries.append(Entry(normalizer(self._id(record)), text, self._fields(record)))
        if not entries:
            raise InvalidFileError(f"{source} holds no text")
        if empty:
            reporter.warn(f"{source}: {empty:,} texts are empty and were skipped")
        if denormalized:
            reporter.warn(f"{source}: {denormalized:,} texts were not in NFC and are normalized")
        return entries

    def _id(self, record: Record) -> str:
        if self.id is None:
            return record.location
        id = record.fields.get(self.id)
        if id is None or id == "":
            raise InvalidFileError(
                f"{record.location}: the field '{self.id}' for the id is missing"
            )
        return id_as_text(id, f"at {record.location}")

    def _fields(self, record: Record) -> dict[str, object]:
        names = self.keep or [name for name in record.fields if name != self.id]
        return {name: record.fields[name] for name in names if record.fields.get(name) is not None}


def make_entries(
    texts: Iterable[TextLike],
    ids: Iterable[EntryId] | None = None,
    fields: Iterable[Fields] | None = None,
) -> list[Entry]:
    """One entry per text; without ids they are numbered from 0."""
    normalized = [normalize("NFC", text) for text in strings(texts)]
    names = _check_length("ids", ids, normalized) or range(len(normalized))
    values = _check_length("fields", fields, normalized) or [{}] * len(normalized)
    for i, value in enumerate(values):
        expect(value, Mapping, f"the fields of text {i}", "a dictionary")
    return [
        Entry(normalize("NFC", id_as_text(name, f"of text {i}")), text, value)
        for i, (name, text, value) in enumerate(zip(names, normalized, values, strict=True))
    ]


def check_ids(entries: Sequence[Entry]) -> None:
    """Raise `InvalidArgumentError` for an id that occurs twice."""
    seen = set[str]()
    for entry in entries:
        if entry.id in seen:
            raise InvalidArgumentError(f"the id '{entry.id}' occurs twice: ids must be unique")
        seen.add(entry.id)


def _check_length(what: str, values: Iterable[Any] | None, texts: Sequence[str]) -> list[Any]:
    several = [] if values is None else list(iterate(values, what))
    if values is not None and len(several) != len(texts):
        raise InvalidArgumentError(f"{len(several)} {what} for {len(texts)} texts")
    return several
