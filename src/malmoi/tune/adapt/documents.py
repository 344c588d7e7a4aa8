"""The documents of a domain: titles and texts from files, BEIR folders or Python.

Empty documents and duplicates are skipped, counted and reported. Knows nothing of models.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from random import Random

from malmoi.arguments import expect
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import Reporter
from malmoi.text.corpus import Corpus
from malmoi.text.normalize import Normalizer
from malmoi.text.records import read_records
from malmoi.text_inputs import TextLike, strings

BEIR_CORPUS = ("corpus.jsonl", "corpus.jsonl.gz")

DocumentSource = str | PathLike[str] | Corpus | Iterable[TextLike]


@dataclass(frozen=True)
class Document:
    """A text and its title, "" if it has none; both normalized."""

    title: str
    text: str

    @property
    def whole(self) -> str:
        """Title and text, as a search engine indexes them."""
        return f"{self.title} {self.text}".strip()


@dataclass(frozen=True, eq=False)
class DomainCorpus:
    """The documents of a domain without duplicates, and where they come from."""

    name: str
    documents: tuple[Document, ...]

    def sample(self, count: int | None, seed: int) -> "DomainCorpus":
        """Some documents, chosen at random, in their order; all if `count` is None."""
        if count is None or count >= len(self.documents):
            return self
        chosen = sorted(Random(seed).sample(range(len(self.documents)), count))
        return DomainCorpus(self.name, tuple(self.documents[i] for i in chosen))

    @property
    def digest(self) -> str:
        """A digest of all texts."""
        digest = blake2b(digest_size=16)
        for document in self.documents:
            digest.update(f"{document.title}\0{document.text}\0".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def read_documents(
    source: DocumentSource, field: str, title_field: str, reporter: Reporter
) -> DomainCorpus:
    """Read all documents.

    Raises:
        InvalidFileError: A file is missing or damaged, or has no such field.
        InvalidArgumentError: There are fewer than two different documents.
    """
    name, raw = _open(source, field, title_field)
    normalizer, empty, duplicates = Normalizer(), 0, 0
    documents: dict[Document, None] = {}
    for title, text in raw:
        document = Document(normalizer(title).strip(), normalizer(text).strip())
        if not document.text:
            empty += 1
        elif document in documents:
            duplicates += 1
        else:
            documents[document] = None
    if len(documents) < 2:
        raise InvalidArgumentError(
            f"{name} has {len(documents)} different documents that are not empty: pass two or more"
        )
    if empty:
        reporter.warn(f"{name}: {empty:,} empty documents were skipped")
    if duplicates:
        reporter.warn(f"{name}: {duplicates:,} duplicates were skipped")
    return DomainCorpus(name, tuple(documents))


def beir_corpus(path: Path) -> Path:
    """The corpus in a BEIR folder; any other path is itself."""
    inner = (path / name for name in BEIR_CORPUS)
    return next((each for each in inner if each.is_file()), path)


def _open(
    source: DocumentSource, field: str, title_field: str
) -> tuple[str, Iterator[tuple[str, str]]]:
    """A name, and pairs of title and text."""
    if isinstance(source, Corpus):
        return source.name, (("", text) for text in source.texts)
    if isinstance(source, str | PathLike):
        records = read_records(str(beir_corpus(Path(source))), fields=(field,))
        return str(source), (
            (str(record.fields.get(title_field) or ""), record.text) for record in records
        )
    hint = "pass a file, a folder, a Corpus, or a list of texts"
    expect(source, Iterable, "corpus", "texts", hint=hint)
    return "the texts", (("", text) for text in strings(source, "document"))
