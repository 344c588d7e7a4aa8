"""Arguments that would make a kernel leave its arrays are refused where Python enters it."""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import malmoi
from malmoi.kernels.core.checks import ArrayOf, Offsets, Within, check_each, checked, require_ids
from malmoi.kernels.core.jit import jit
from malmoi.kernels.counts.sparse_counts import (
    count_documents,
    count_ids,
    count_rows,
    find_positions,
    multiply_twice,
)
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.kernels.nearest.int8_scores import LANES, score_int8_rows
from malmoi.kernels.nearest.pairwise_top_k import update_top_k
from malmoi.kernels.parsing.binary_rows import scan_fasttext_entries, scan_word2vec
from malmoi.kernels.parsing.characters import find_lines_with
from malmoi.kernels.parsing.scan_words import (
    WordHashTable,
    fill_slots,
    hash_all,
    renumber,
    scan_words,
)
from malmoi.kernels.parsing.text_rows import ends_in_component, format_lines, parse_lines
from malmoi.kernels.word2vec.random import alias_table
from malmoi.kernels.word2vec.rows import mean_rows, measure_repeats
from malmoi.kernels.word2vec.subword_rows import list_buckets, word_vectors

SOURCE = Path(malmoi.__file__).parent
SCALARS_ONLY = {"seeded"}  # takes no array


def zeros(kind: Any, *shape: int) -> Any:
    return np.zeros(shape, kind)


def longs(*values: int) -> Any:
    return np.array(values, np.int64)


def ids(*values: int) -> Any:
    return np.array(values, np.uint32)


def floats(*shape: int) -> Any:
    return zeros(np.float32, *shape)


def table(words: int = 4, slots: int = 8, used: int = 0, arena: int = 20) -> WordHashTable:
    return WordHashTable(
        np.full(slots, -1, np.int32),
        zeros(np.uint8, arena),
        zeros(np.int64, words + 1),
        zeros(np.uint64, words),
        zeros(np.int64, words),
        longs(used),
    )


TEXT = np.frombuffer(b"a 1 2\nb 3 4\n", np.uint8)
BEST = (zeros(np.uint32, 1, 4, 2), floats(1, 4, 2), floats(1, 4))

TILES, WEIGHTED = zeros("i1", 2, 3, LANES), (floats(1, 4), floats(1, 4))
WORD, SUBWORDS = (TEXT, longs(0, 5)), (floats(1, 2), floats(4, 2), 3, 6, 4)
LINE = (longs(0), longs(5), longs(0))
CONTEXTS = (np.ones(3), True, True, np.zeros(2), zeros("u8", 1))
ENTRIES, DENSE = (ids(0, 0), floats(2)), (floats(2, 3), floats(1, 3), floats(2, 3))

Entry = tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]
VALID: list[Entry] = [
    (
        score_int8_rows,
        lambda: (TILES, floats(2, LANES), floats(3), floats(2, LANES), floats(2), 0, 2),
    ),
    (update_top_k, lambda: (floats(2, 2), (0, 0), (0, 2), (0, 2), *WEIGHTED, *BEST)),
    (find_lines_with, lambda: (TEXT, zeros(np.bool_, 200), longs(0), longs(0))),
    (scan_words, lambda: (TEXT, 0, zeros("u4", 12), True, table())),
    (renumber, lambda: (ids(0, 1, LINE_END), ids(1, 0))),
    (fill_slots, lambda: (table().slots, zeros("u8", 4), 4)),
    (hash_all, lambda: (TEXT, longs(0, 4, 5), zeros("u8", 2))),
    (scan_word2vec, lambda: (TEXT, 4, zeros("u1", 1, 4), longs(0), longs(0), 9)),
    (scan_fasttext_entries, lambda: (TEXT, 0, longs(0), longs(0), longs(0), zeros("?", 1))),
    (word_vectors, lambda: (*WORD, *SUBWORDS, zeros("i4", 0), False, floats(1, 2), 0, 1)),
    (list_buckets, lambda: (*WORD, zeros("i4", 1, 2), 9, longs(0), zeros("i4", 3))),
    (
        parse_lines,
        lambda: (TEXT, *LINE, 32, True, floats(1, 2), longs(0), zeros("u1", 1), 0, 1),
    ),
    (ends_in_component, lambda: (TEXT, 0, 5, 32)),
    (format_lines, lambda: (floats(2, 3), TEXT, longs(0, 1, 2), 32, zeros("u1", 106), 0, 2)),
    (count_ids, lambda: (ids(0), longs(0, 0, 0))),
    (find_positions, lambda: (ids(0, 0), 0, 1, longs(0), ids(7, 7))),
    (count_rows, lambda: (ids(0, 1), ids(1), longs(0, 1), *CONTEXTS, *ENTRIES, longs(0, 0))),
    (count_documents, lambda: (ids(0, 1), 2, *ENTRIES, longs(0, 0))),
    (multiply_twice, lambda: (longs(0, 1), ids(1), floats(1), *DENSE, 0, 1)),
    (mean_rows, lambda: (floats(2, 3), longs(0, 1), zeros("i4", 1), floats(1, 3), 0, 1)),
    (measure_repeats, lambda: (longs(0, 1), zeros("i4", 1), floats(1))),
    (alias_table, lambda: (np.array([1.0, 2.0]),)),
]
TAKEN = {entry[0].__name__: entry for entry in VALID}
REFUSED = [  # a kernel, the place of an argument, what it is instead, and what is said
    ("score_int8_rows", 1, zeros("f8", 2, LANES), "float64"),
    ("score_int8_rows", 2, floats(4), "direction"),
    ("score_int8_rows", 6, 3, "last is 3"),
    ("update_top_k", 2, (0, 3), "not in the tile"),
    ("update_top_k", 1, (3, 0), "not in the tile"),
    ("update_top_k", 6, zeros("u4", 1, 4, 0), "scores is"),
    ("find_lines_with", 1, zeros(np.bool_, 100), "128"),
    ("find_lines_with", 3, longs(0, 0), "stops"),
    ("scan_words", 1, 13, "at is 13"),
    ("scan_words", 2, ids(1, 2), "out holds 2 ids"),
    ("scan_words", 4, table(slots=4), "4 slots"),
    ("scan_words", 4, table(slots=9), "9 slots"),
    ("scan_words", 4, table(used=5), "5 words do not fit"),
    ("renumber", 0, ids(0, 5, LINE_END), "an id beyond the 2 words"),
    ("fill_slots", 0, zeros("i4", 4), "4 slots"),
    ("fill_slots", 2, 5, "words is 5"),
    ("hash_all", 1, longs(0, 4, 99), "offsets does not rise"),
    ("hash_all", 1, longs(0, 4, 2), "offsets does not rise"),
    ("hash_all", 2, zeros("u8", 1), "hashes"),
    ("scan_word2vec", 1, 8, "width is 8"),
    ("scan_fasttext_entries", 1, 99, "at is 99"),
    ("scan_fasttext_entries", 4, longs(0, 0), "counts"),
    ("word_vectors", 3, floats(3, 2), "4 buckets need as many rows, not 3"),
    ("word_vectors", 3, floats(4, 3), "ngrams"),
    ("word_vectors", 6, 2**31, "buckets is"),
    ("list_buckets", 3, 0, "buckets is 0"),
    ("list_buckets", 4, longs(-1), "ends"),
    ("parse_lines", 2, longs(99), "stops"),
    ("parse_lines", 3, longs(1), "rows"),
    ("ends_in_component", 2, 99, "stop is 99"),
    ("format_lines", 0, np.full((2, 3), np.nan, "f4"), "finite"),
    ("format_lines", 2, longs(0, 1), "1 keys"),
    ("format_lines", 4, zeros("u1", 105), "out has 105"),
    ("count_ids", 1, longs(0), "marks"),
    ("find_positions", 0, ids(0, 0, 0), "more often"),
    ("find_positions", 2, 2, "1 ends"),
    ("count_rows", 1, ids(2), "positions"),
    ("count_rows", 6, np.zeros(99), "marks"),
    ("count_rows", 8, ids(0), "values is"),
    ("count_documents", 0, ids(0, 1, 1), "columns"),
    ("multiply_twice", 1, ids(2), "columns"),
    ("mean_rows", 2, zeros("i4", 1) + 2, "rows"),
    ("mean_rows", 2, zeros("i4", 1) - 1, "rows"),
    ("measure_repeats", 0, longs(0, 2), "starts"),
    ("alias_table", 0, np.array([1.0, -2.0]), "weights"),
    ("alias_table", 0, np.zeros(2), "weights"),
]


@pytest.mark.parametrize("name", TAKEN)
def test_a_kernel_takes_what_fits(name: str) -> None:
    kernel, given = TAKEN[name]
    kernel(*given())


@pytest.mark.parametrize(("name", "place", "wrong", "said"), REFUSED)
def test_a_kernel_refuses_what_it_would_overrun(
    name: str, place: int, wrong: Any, said: str
) -> None:
    kernel, given = TAKEN[name]
    arguments = list(given())
    arguments[place] = wrong
    with pytest.raises(ValueError, match=said) as refused:
        kernel(*arguments)
    assert name in str(refused.value)


def test_python_enters_no_kernel_but_through_a_check() -> None:
    unchecked = []
    for path in SOURCE.rglob("*.py"):
        if "kernels" in path.relative_to(SOURCE).parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                "malmoi.kernels."
            ):
                module = import_module(node.module or "")
                names = [alias.name for alias in node.names if alias.name not in SCALARS_ONLY]
                found = [
                    name for name in names if isinstance(getattr(module, name, None), Dispatcher)
                ]
                unchecked += [f"{path.relative_to(SOURCE)}: {name}" for name in found]
    assert not unchecked


@checked(matrix=ArrayOf(np.float32, "rows", "dim"), first=Within("rows"))
@jit
def first_of(matrix: Any, first: int) -> float:
    return float(matrix[first, 0])


def test_a_refusal_names_the_kernel_the_argument_and_what_it_should_be() -> None:
    matrix = np.ones((3, 4), np.float32)
    assert first_of(matrix, 2) == 1
    with pytest.raises(
        ValueError,
        match=r"^first_of: matrix is float32 \[3\], not contiguous float32 \[rows, dim\]$",
    ):
        first_of(matrix[:, 0].copy(), 0)
    with pytest.raises(ValueError, match=r"strided float32 \[3, 2\]"):
        first_of(matrix[:, ::2], 0)
    with pytest.raises(ValueError, match="matrix is a list"):
        first_of([[1.0]], 0)
    with pytest.raises(ValueError, match="first is -1, not from 0 to 3"):
        first_of(matrix, -1)


def test_ids_may_hold_marks_and_no_other_number_beyond_the_words() -> None:
    require_ids("ids", ids(0, 6, UNKNOWN, LINE_END), 7)
    for wrong in (7, UNKNOWN - 1):
        with pytest.raises(ValueError, match=f"ids has {wrong} at 1"):
            require_ids("ids", ids(0, wrong, 9), 7)
    with pytest.raises(ValueError, match="ids has 0 at 0"):
        require_ids("ids", ids(0), 0)


def test_sizes_of_one_name_are_the_same() -> None:
    offsets = ("starts", longs(0, 2, 2), Offsets("rows", into="entries"))
    entries = ("entries", longs(4, 4), ArrayOf(np.int64, "entries"))
    check_each([offsets, entries, ("rows", longs(1, 1), ArrayOf(np.int64, "rows"))], {})
    with pytest.raises(ValueError, match=r"rows is int64 \[1\], not contiguous int64 \[2\]"):
        check_each([offsets, entries, ("rows", longs(1), ArrayOf(np.int64, "rows"))], {})
    with pytest.raises(ValueError, match="does not rise from 0 to at most 2"):
        check_each([("starts", longs(0, 3), Offsets("rows", into="entries")), entries], {})
