"""Conversion of vectors from one file to another: selected, composed, normalized."""

from collections.abc import Sequence
from dataclasses import dataclass

from malmoi.arguments import expect_path, settings_or_default
from malmoi.errors import InvalidArgumentError
from malmoi.formats import PathLike, load, save
from malmoi.formats.reading import LoadReport, nfc, without_repeats
from malmoi.keys import Keys
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.vectors import Vectors, l2_normalize


@dataclass(frozen=True, kw_only=True)
class ConvertSettings:
    """What `convert` reads and changes.

    Args:
        format: The name of the format to write; None takes it from the suffix.
        limit: Read only the first rows.
        only: Read only the rows of these words.
        normalize: Scale every vector to length 1; subwords are dropped.
        nfc: Compose the words (NFC); of equal words the first row stays. Subwords are dropped.
        strict: Raise an error for malformed rows; False skips them.
        encoding: The encoding of the words in the source.
    """

    format: str | None = None
    limit: int | None = None
    only: Sequence[str] | None = None
    normalize: bool = False
    nfc: bool = False
    strict: bool = True
    encoding: str = "utf-8"


def convert(
    source: PathLike,
    target: PathLike,
    settings: ConvertSettings | None = None,
    *,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Vectors:
    """Read vectors in any format and write them in another.

    Args:
        source: The file to read, or `glove-6b-50d`.
        target: The file to write; its suffix selects the format.
        settings: What to select and to change.
        reporter: Receives progress and warnings, such as the number of words not in the source.

    Returns:
        The vectors that were written.

    Raises:
        InvalidArgumentError: A setting is invalid, or the format cannot hold the vectors.
        InvalidFileError: A file cannot be read or written.

    Example:
        mm.convert("glove-6b-50d", "glove.txt", mm.ConvertSettings(limit=1000))
    """
    settings = settings_or_default(settings, ConvertSettings)
    target = expect_path(target, "target")
    vectors = read_selected(source, settings, reporter=reporter)
    save(vectors, target, format=settings.format, reporter=reporter)
    return vectors


def read_selected(source: PathLike, settings: ConvertSettings, *, reporter: Reporter) -> Vectors:
    """The vectors of a source as they are to be written: selected, composed, normalized."""
    expect_reporter(reporter)
    if expect_path(source, "source").is_dir():
        raise InvalidArgumentError(f"{source} is a folder: name a file of vectors")
    vectors = load(
        source,
        limit=settings.limit,
        only=settings.only,
        strict=settings.strict,
        encoding=settings.encoding,
        reporter=reporter,
    )
    missing = [word for word in settings.only or () if word not in vectors]
    if missing:
        reporter.warn(f"words that are not in {source}: {len(missing):,}, such as '{missing[0]}'")
    if settings.nfc:
        vectors = compose_keys(vectors)
    return normalize_rows(vectors) if settings.normalize else vectors


def compose_keys(vectors: Vectors) -> Vectors:
    """Keys in NFC; of keys that become equal, the first row stays."""
    keys = Keys.of(map(nfc, vectors.keys))
    plain = Vectors(keys, vectors.matrix, vectors.counts, vectors.meta)
    return without_repeats(plain, LoadReport())


def normalize_rows(vectors: Vectors) -> Vectors:
    """Every row scaled to length one, without subwords; rows of zeros stay."""
    return Vectors(vectors.keys, l2_normalize(vectors.matrix), vectors.counts, vectors.meta)
