"""Parallel data: pairs of a source text and its translation, and texts of one language.

Tables with a header or without one; of three columns and more, such as Tatoeba's with a licence,
the first two columns of texts count. Rows that cannot be used are counted with their lines. Texts
are normalized to NFC, so that a held-out text is found in any form.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.encode.tokens.inputs import normalize_text
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.reporting.reporter import Reporter
from malmoi.text.corpus import Corpus
from malmoi.tune.data.columns import choose_columns
from malmoi.tune.data.tables import DataSource, TableRows, read_table

TranslationPair = tuple[str, str]  # a source text and its translation
SOURCE_NAMES = ("source", "english", "en", "src")
TARGET_NAMES = ("target", "translation", "korean", "ko", "tgt", "trg")


@dataclass(frozen=True, kw_only=True)
class DistillData:
    """What a student learns from.

    Args:
        parallel: Source texts with their translations: files of two columns or more, or a list
            of pairs.
        texts: Texts of the target language alone: a list, or a file with one per line or, in
            JSON lines and tables, in the settings' `field`; they need a bridge.
        source_texts: Texts of the source language alone: the student keeps the teacher's vectors
            of them.
        translations: Pairs that are held out from training and measured; without them, some of
            `parallel` are.
    """

    parallel: DataSource | Sequence[str | Path]
    texts: str | Path | Sequence[str] = ()
    source_texts: str | Path | Sequence[str] = ()
    translations: DataSource | None = None


@dataclass(frozen=True)
class ParallelTexts:
    """What was read: pairs to train on, held-out pairs, and texts of one language."""

    sources: tuple[str, ...]  # where the data come from, with counts
    pairs: tuple[TranslationPair, ...]
    held_out: tuple[TranslationPair, ...]
    texts: tuple[str, ...]
    source_texts: tuple[str, ...]


def read_parallel(
    data: DistillData,
    columns: Sequence[str],
    held_out: int,
    seed: int,
    reporter: Reporter,
    field: str | None = None,
) -> ParallelTexts:
    """Read all data; no text of a held-out pair stays among the others.

    `field` holds the text where texts of one language are JSON lines or tables.

    Raises:
        InvalidFileError: A file cannot be read or has no usable rows.
        InvalidArgumentError: The columns are ambiguous, or too few pairs are left.
    """
    described: list[str] = []
    pairs: dict[TranslationPair, None] = {}
    for source in parallel_sources(data.parallel):
        name, rows = read_pairs(source, columns, reporter)
        new = [pair for pair in dict.fromkeys(rows) if pair not in pairs]
        pairs |= dict.fromkeys(new)
        described.append(f"{name}: {len(new):,} pairs")
    if data.translations is None:
        held = draw_pairs(list(pairs), held_out, seed)
    else:
        held = one_to_one(read_pairs(data.translations, columns, reporter)[1])
    texts, source_texts = (_read_texts(one, field) for one in (data.texts, data.source_texts))
    for name, lines in (("target", texts), ("source", source_texts)):
        if lines:
            described.append(f"{len(lines):,} texts of the {name} language")
    for pair in held:
        pairs.pop(pair, None)
    read = ParallelTexts(tuple(described), tuple(pairs), tuple(held), texts, source_texts)
    read = without(read, {text for pair in held for text in pair}, "held-out pairs", reporter)
    if not read.pairs:
        raise InvalidArgumentError(
            "all pairs are held out or share a text with held-out ones: pass more pairs"
        )
    return read


def without(data: ParallelTexts, texts: set[str], where: str, reporter: Reporter) -> ParallelTexts:
    """The data without training examples that have one of these texts; their number is reported."""
    pairs = tuple(pair for pair in data.pairs if texts.isdisjoint(pair))
    own, source = (
        tuple(text for text in some if text not in texts)
        for some in (data.texts, data.source_texts)
    )
    lost = sum(map(len, (data.pairs, data.texts, data.source_texts)))
    lost -= sum(map(len, (pairs, own, source)))
    if lost:
        reporter.warn(f"{lost:,} pairs and texts have a text of {where}: they are not used")
    return replace(data, pairs=pairs, texts=own, source_texts=source)


def parallel_sources(data: DataSource | Sequence[str | Path]) -> list[DataSource]:
    """One source, or several paths."""
    if isinstance(data, list | tuple) and data and all(isinstance(one, str | Path) for one in data):
        return [one for one in data if isinstance(one, str | Path)]
    return [data]  # type: ignore[list-item]


def read_pairs(
    source: DataSource, columns: Sequence[str], reporter: Reporter
) -> tuple[str, list[TranslationPair]]:
    """The name of a table, and its pairs of source and target texts."""
    table = read_table(source, reporter)
    first_row, indices = _columns(table, columns)
    pairs: list[TranslationPair] = []
    for line, fields in table.rows[first_row:]:
        texts = [_text(fields, index) for index in indices]
        if all(texts):
            pairs.append((texts[0], texts[1]))
        else:
            table.skipped.add("no text", line)
    table.skipped.report(table.source, reporter)
    if not pairs:
        raise InvalidFileError(
            f"{table.source} has no usable rows: expected a source text and its translation"
        )
    return table.source, pairs


def _columns(table: TableRows, columns: Sequence[str]) -> tuple[int, tuple[int, int]]:
    """How many rows the header takes, and the columns of the source and target texts."""
    if not columns:
        header = table.names or tuple(str(name) for name in table.rows[0][1])
        lower = [name.strip().lower() for name in header]
        named = [
            next((lower.index(name) for name in names if name in lower), None)
            for names in (SOURCE_NAMES, TARGET_NAMES)
        ]
        if named[0] is not None and named[1] is not None:
            return int(table.names is None), (named[0], named[1])
    chosen = choose_columns(table, columns, may_have_label=not columns)
    if len(chosen.texts) < 2:
        raise InvalidArgumentError(
            f"{table.source} has one column of texts: expected a source text and its translation"
        )
    return chosen.first_row, (chosen.texts[0], chosen.texts[1])


def _text(fields: Sequence[Any], index: int) -> str:
    value = fields[index] if index < len(fields) else None
    return normalize_text(value).strip() if isinstance(value, str) else ""


def _read_texts(source: str | Path | Sequence[str], field: str | None) -> tuple[str, ...]:
    """Each different text once; `field` holds the text in JSON lines and tables."""
    if isinstance(source, str | Path):
        texts: Iterable[str] = Corpus.of(source, field=field)
    else:
        texts = source
    stripped = (normalize_text(text).strip() for text in texts)
    return tuple(dict.fromkeys(text for text in stripped if text))


def one_to_one(pairs: Sequence[TranslationPair]) -> list[TranslationPair]:
    """Pairs of which no two share a text: each text has one translation among them."""
    used: tuple[set[str], set[str]] = (set(), set())
    chosen: list[TranslationPair] = []
    for pair in pairs:
        if all(text not in texts for text, texts in zip(pair, used, strict=True)):
            chosen.append(pair)
            for text, texts in zip(pair, used, strict=True):
                texts.add(text)
    return chosen


def draw_pairs(pairs: Sequence[TranslationPair], count: int, seed: int) -> list[TranslationPair]:
    """At most `count` pairs at random, and at most a tenth of them, none with a common text."""
    order = np.random.default_rng(seed).permutation(len(pairs)).tolist()
    most = max(2, min(count, len(pairs) // 10))
    return one_to_one([pairs[i] for i in order])[:most]
