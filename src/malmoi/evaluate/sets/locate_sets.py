"""Installed test sets: those below the folder $MALMOI_DATA, and those that gensim installs.

Word sets are in its folder words/, sentence sets in sts/ and below, where training splits are
skipped. gensim installs WordSim-353, SimLex-999 and Google's analogies for its own tests; they
are read from there without importing gensim.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

from malmoi.arguments import expect, expect_path
from malmoi.errors import InvalidArgumentError, InvalidFileError, warn
from malmoi.evaluate.sets.sentence_sets import EXPECTED_FIELDS as SENTENCES
from malmoi.evaluate.sets.sentence_sets import PairSource, SentenceSet, read_sentences
from malmoi.evaluate.sets.word_sets import (
    EXPECTED_LINES,
    AnalogySet,
    SimilaritySet,
    TestSet,
    read_set,
)
from malmoi.text_inputs import column_names

DATA_VARIABLE = "MALMOI_DATA"  # environment variable: a folder with words/ and sts/
SUFFIXES = (".txt", ".csv", ".tsv", ".jsonl", ".gz")
TRAINING_MARK = "train"  # in the name of a file that is not for testing
GENSIM_FILES = ("wordsim353.tsv", "simlex999.txt", "questions-words.txt")


def find_sets(files: Iterable[str | Path | TestSet] | str | Path | None = None) -> list[TestSet]:
    """The test sets of these files, or all installed ones; similarity first."""
    if files is None:
        sets = _installed_word_sets()
    else:
        sets = [
            file if isinstance(file, TestSet) else read_set(expect_path(file, "a test set"))
            for file in _several(files)
        ]
    if not sets:
        raise InvalidArgumentError(
            f"there are no test sets: give files (--file) of {EXPECTED_LINES}, or set"
            f" {DATA_VARIABLE} to a folder with such files in words/ (WordSim-353,"
            " questions-words.txt)"
        )
    return sorted(sets, key=lambda one: not isinstance(one, SimilaritySet))


def find_sentence_sets(
    files: Iterable[PairSource] | PairSource | None = None,
    columns: Sequence[str] | None = None,
) -> list[SentenceSet]:
    """The sentence sets of these files, or all installed ones."""
    if files is not None:
        sets = [read_sentences(file, columns) for file in _several(files)]
    else:
        sets = _installed_sentence_sets()
    if not sets:
        raise InvalidArgumentError(
            f"there are no test sets: give files (--file) of {SENTENCES} per line, or set"
            f" {DATA_VARIABLE} to a folder with such files in sts/ (STS-B, KorSTS, SICK)"
        )
    return sets


def _several(files: Any) -> list[Any]:
    """The files, or a single one, as a list; a table is one."""
    is_set = isinstance(files, str | PathLike | SimilaritySet | AnalogySet | SentenceSet)
    if is_set or column_names(files):
        return [files]
    expect(files, Iterable, "files", "a list of files or test sets")
    return list(files)


def _installed_sentence_sets() -> list[SentenceSet]:
    """The sets in sts/, named with their folders."""
    sets = []
    for path in _own_files("sts"):
        if TRAINING_MARK in path.name.lower():
            continue
        try:
            pair_set = read_sentences(path)
        except (InvalidFileError, InvalidArgumentError) as error:
            warn(f"skipped: {error}")
            continue
        sets.append(replace(pair_set, name=f"{path.parent.name}/{pair_set.name}"))
    return sets


def _installed_word_sets() -> list[TestSet]:
    """Each different set once, whatever its name."""
    sets: dict[object, TestSet] = {}
    for path in [*_own_files("words"), *_gensim_files()]:
        try:
            test = read_set(path)
        except InvalidFileError as error:
            warn(f"skipped: {error}")
            continue
        content = test.pairs if isinstance(test, SimilaritySet) else test.sections
        sets.setdefault(content, test)
    return list(sets.values())


def data_folder() -> Path | None:
    """The folder that $MALMOI_DATA names; None if it is not set."""
    return Path(os.environ[DATA_VARIABLE]) if DATA_VARIABLE in os.environ else None


def _own_files(name: str) -> list[Path]:
    data = data_folder()
    if data is None:
        return []
    folder = data / name
    if not folder.is_dir():
        warn(f"{DATA_VARIABLE}: the folder {folder} does not exist")
        return []
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)


def _gensim_files() -> list[Path]:
    spec = find_spec("gensim")
    if spec is None or spec.origin is None:
        return []
    folder = Path(spec.origin).parent / "test" / "test_data"
    return [folder / name for name in GENSIM_FILES if (folder / name).is_file()]
