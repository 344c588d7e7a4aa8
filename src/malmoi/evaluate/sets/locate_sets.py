"""Where test sets are found when none is named: the folder of MALMOI_DATA, and gensim's.

Words are in its folder words/, sentences in sts/ and below, where files to train on are passed
over. gensim installs WordSim-353, SimLex-999 and Google's analogies for its own tests; they are
read there, without importing it.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from malmoi.errors import InvalidArgumentError, InvalidFileError, warn
from malmoi.evaluate.sets.sentence_sets import WANTED as SENTENCES
from malmoi.evaluate.sets.sentence_sets import SentenceSet, read_sentences
from malmoi.evaluate.sets.word_sets import WANTED, SimilaritySet, TestSet, read_set
from malmoi.text.readers import LINE_SUFFIXES

FOLDER = "MALMOI_DATA"  # an environment variable: a folder that holds words/ and sts/
SUFFIXES = (*LINE_SUFFIXES, ".gz")
TRAINING = "train"  # in the name of a file that nothing is to be tested on
GENSIMS = ("wordsim353.tsv", "simlex999.txt", "questions-words.txt")


def find_sets(files: Iterable[str | Path | TestSet] | str | Path | None = None) -> list[TestSet]:
    """The test sets of these files, or else all that are found; similarity first."""
    if files is None:
        sets = _found()
    else:
        given = [files] if isinstance(files, str | Path) else files
        sets = [read_set(file) if isinstance(file, str | Path) else file for file in given]
    if not sets:
        raise InvalidArgumentError(
            f"there is nothing to test with: give files (--file) of {WANTED}, or set {FOLDER}"
            " to a folder that holds words/ with such files (WordSim-353, questions-words.txt)"
        )
    return sorted(sets, key=lambda one: not isinstance(one, SimilaritySet))


def find_sentence_sets(
    files: Iterable[str | Path | SentenceSet] | str | Path | None = None,
    columns: Sequence[str] | None = None,
) -> list[SentenceSet]:
    """The sets of sentences of these files, or else all that are found."""
    if files is not None:
        given = [files] if isinstance(files, str | Path) else files
        sets = [read_sentences(file, columns) for file in given]
    else:
        sets = _found_sentences()
    if not sets:
        raise InvalidArgumentError(
            f"there is nothing to test with: give files (--file) of {SENTENCES} a line, or set"
            f" {FOLDER} to a folder that holds sts/ with such files (STS-B, KorSTS, SICK)"
        )
    return sets


def _found_sentences() -> list[SentenceSet]:
    """Those to test on, named with the folder they are in."""
    sets = []
    for path in _own_files("sts"):
        if TRAINING in path.name.lower():
            continue
        try:
            found = read_sentences(path)
        except (InvalidFileError, InvalidArgumentError) as error:
            warn(f"left out: {error}")
            continue
        sets.append(replace(found, name=f"{path.parent.name}/{found.name}"))
    return sets


def _found() -> list[TestSet]:
    """Every set once, whatever it is called."""
    sets: dict[object, TestSet] = {}
    for path in [*_own_files("words"), *_gensims_files()]:
        try:
            found = read_set(path)
        except InvalidFileError as error:
            warn(f"left out: {error}")
            continue
        content = found.pairs if isinstance(found, SimilaritySet) else found.sections
        sets.setdefault(content, found)
    return list(sets.values())


def _own_files(name: str) -> list[Path]:
    if FOLDER not in os.environ:
        return []
    folder = Path(os.environ[FOLDER]) / name
    if not folder.is_dir():
        warn(f"{FOLDER}: there is no folder {folder}")
        return []
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)


def _gensims_files() -> list[Path]:
    spec = find_spec("gensim")
    if spec is None or spec.origin is None:
        return []
    folder = Path(spec.origin).parent / "test" / "test_data"
    return [folder / name for name in GENSIMS if (folder / name).is_file()]
