"""Lines of `key number … number`: detects their layout and parses them in parallel.

Shared by word2vec's text, fastText's .vec, GloVe's text and the projector's TSV. The rule is
GloVe's: the last `dim` fields are numbers and everything before them is the key, which may contain
spaces and no-break spaces; fields are split at the separator only.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

import numpy as np

from malmoi.arrays import Int64Array, UInt8Array
from malmoi.errors import InvalidFileError
from malmoi.files.source import InputFile
from malmoi.formats.reading import LoadRequest, LoadResult, report_or_raise
from malmoi.formats.row_gatherer import RowGatherer
from malmoi.kernels.core.jit import in_parallel
from malmoi.kernels.parsing.text_rows import BLANK, MISFIT, parse_lines
from malmoi.keys import Keys

MAX_LINE_BYTES = 8 << 20
BOM = b"\xef\xbb\xbf"
SAMPLE_LINES = 200  # read to detect the layout


@dataclass(frozen=True)
class Layout:
    """The layout of the lines of a file."""

    dim: int
    separator: bytes = b" "
    keyed: bool = True
    header: tuple[int, int] | None = None  # rows and dim that line 1 announces
    body: int = 0  # the position of the first row


@lru_cache(maxsize=1)  # each text format calls it in turn
def find_layout(source: InputFile) -> Layout | None:
    """The layout of a text file of vectors; None if it is not one."""
    bom_bytes = len(BOM) if source.head.startswith(BOM) else 0
    lines = source.head[bom_bytes:].split(b"\n", SAMPLE_LINES + 1)
    lines = lines if source.is_whole else lines[:-1]
    header = parse_header(lines[0]) if lines else None
    body = bom_bytes + (len(lines[0]) + 1 if header else 0)
    rows = [line.rstrip(b" \t\r") for line in lines[bool(header) : SAMPLE_LINES]]
    rows = [line for line in rows if line]
    if not rows:
        return Layout(header[1], header=header, body=body) if header else None
    separator = b"\t" if not any(b" " in line for line in rows) else b" "
    fields = [line.split(separator) for line in rows]
    keyed = separator == b" " or not all(map(is_number, fields[0]))
    dims = Counter(min(trailing_numbers(parts), len(parts) - keyed) for parts in fields)
    dim = dims.most_common(1)[0][0]
    if header and (not keyed or (dim == 1 and header[1] != 1)):
        header, body = None, bom_bytes  # line 1 is a row
    return Layout(dim, separator, keyed, header, body) if dim > 0 else None


def parse_header(line: bytes) -> tuple[int, int] | None:
    """Two integers alone on a line: rows and dim."""
    parts = line.split()
    if len(parts) != 2 or not all(part.isdigit() and len(part) < 19 for part in parts):
        return None
    return int(parts[0]), int(parts[1])


def trailing_numbers(fields: list[bytes]) -> int:
    """How many fields at the end of a line are numbers."""
    nonempty = (field for field in reversed(fields) if field)  # padding makes empty fields
    return sum(1 for _ in takewhile(is_number, nonempty))


def is_number(field: bytes) -> bool:
    """Whether a field reads as a number (`nan` does, `1_000` and `infinite` do not)."""
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


def read_lines(
    source: InputFile, layout: Layout, request: LoadRequest, keys: Keys | None = None
) -> LoadResult:
    """Read the requested rows of a text file; `keys[i]`, if any, is the key of line i."""
    gatherer = RowGatherer(source, request, layout.dim)
    check_header(source, layout, gatherer)
    line = 1 + bool(layout.header)
    for text, starts, stops, done in line_blocks(source, layout.body, line):
        expected_rows = min(len(starts), len(text) // (2 * layout.dim) + 1)
        gatherer.expect(int(1.05 * expected_rows * source.size / done) + 1)
        parse_block(gatherer, layout, (text, starts, stops), line, keys)
        line += len(starts)
        request.progress(done, source.size)
        if gatherer.is_done:
            break
    gatherer.report.numbers = "decimal text"
    count = gatherer.report.rows + gatherer.report.malformed.count
    if layout.header and not gatherer.is_done and count != layout.header[0]:
        gatherer.report_problem(
            f"{source.path}:1: the header announces {layout.header[0]:,} rows, but there are"
            f" {count:,}"
        )
    return gatherer.finish()


def check_header(source: InputFile, layout: Layout, gatherer: RowGatherer) -> None:
    """Report a header that contradicts the file, before the rows are read."""
    if not layout.header:
        return
    rows, dim = layout.header
    if dim != layout.dim:
        gatherer.report_problem(
            f"{source.path}:1: the header announces {dim:,} numbers per row,"
            f" but the rows have {layout.dim:,}"
        )
    if gatherer.request.strict and not source.compressed and rows * 2 * dim > source.size:
        raise InvalidFileError(
            f"{source.path}:1: the header announces {rows:,} rows of {dim:,} numbers,"
            f" which do not fit into {source.size:,} bytes: the file is truncated or the header"
            " wrong"
        )


def line_blocks(
    source: InputFile, skip: int, line: int
) -> Iterator[tuple[UInt8Array, Int64Array, Int64Array, int]]:
    """Blocks of complete lines: bytes, starts and stops of the lines, bytes read so far."""
    carried = np.empty(0, dtype=np.uint8)  # the beginning of a line that continues
    done = 0
    for block, done in source.blocks(skip):
        ends = np.flatnonzero(block == ord("\n"))
        if len(carried) + (ends[0] if len(ends) else len(block)) > MAX_LINE_BYTES:
            raise InvalidFileError(
                f"{source.path}:{line}: a line of over {MAX_LINE_BYTES:,} bytes is not a vector"
            )
        if not len(ends):
            carried = np.concatenate([carried, block])
            continue
        whole, rest = block[: ends[-1] + 1], block[ends[-1] + 1 :]
        if len(carried):
            ends = ends + len(carried)
            whole = np.concatenate([carried, whole])
        yield whole, np.r_[0, ends[:-1] + 1], ends, done
        line += len(ends)
        carried = rest
    if len(carried):
        yield carried, np.array([0]), np.array([len(carried)]), done


def parse_block(
    gatherer: RowGatherer,
    layout: Layout,
    lines: tuple[UInt8Array, Int64Array, Int64Array],
    line: int,
    keys: Keys | None,
) -> None:
    """Parse a block of lines into the gatherer; `line` is the number of the first one."""
    text, starts, stops = lines
    # A number takes at least a digit and a separator: shorter lines get no memory.
    can_fit = stops - starts >= 2 * layout.dim - 1
    rows = np.where(can_fit, np.cumsum(can_fit) - 1, -1)
    matrix = gatherer.reserve(int(can_fit.sum()))
    key_stops = np.empty(len(starts), dtype=np.int64)
    status = np.empty(len(starts), dtype=np.uint8)
    separator = layout.separator[0]

    def parse(first: int, last: int) -> None:
        parse_lines(
            text, starts, stops, rows, separator, layout.keyed, matrix, key_stops, status,
            first, last,
        )  # fmt: skip

    in_parallel(parse, len(starts))
    fits = np.flatnonzero((status != BLANK) & (status != MISFIT))
    misfits = np.flatnonzero(status == MISFIT)
    limit = gatherer.request.limit
    before = np.searchsorted(fits, misfits[:1])  # valid rows before the first malformed one
    if len(misfits) and (limit is None or before[0] < limit - gatherer.report.rows):
        first = int(misfits[0])
        reason = describe_misfit(bytes(text[starts[first] : stops[first]]), layout)
        reason = f"{gatherer.path}:{line + first}: {reason}"
        report_or_raise(gatherer.report.malformed, len(misfits), reason, gatherer.request)
    if len(fits) < len(matrix):
        matrix[: len(fits)] = matrix[rows[fits]]
    if keys is None:
        spans = text, starts[fits], key_stops[fits]
    else:
        spans = keys.packed, keys.offsets[line - 1 + fits], keys.offsets[line + fits]
    gatherer.add(*spans, lambda i: f"{gatherer.path}:{line + int(fits[i])}")


def describe_misfit(text: bytes, layout: Layout) -> str:
    """What is wrong with a line."""
    fields = text.rstrip(b" \t\r").split(layout.separator)
    shown = fields[0][:40].decode("utf-8", "replace")
    numbers = len(fields) - layout.keyed
    if numbers == layout.dim:
        wrong = next((part for part in fields[layout.keyed :] if not is_number(part)), b"")
        return f"'{wrong[:40].decode('utf-8', 'replace')}' in the row of '{shown}' is not a number"
    return f"the row of '{shown}' has {numbers:,} numbers, the others have {layout.dim:,}"
