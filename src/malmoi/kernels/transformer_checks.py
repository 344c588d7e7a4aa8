"""What a transformer's layers require: weights and workspace that fit, and batches within both.

Weights and workspace are checked when they are made, a batch whenever it is run.
"""

from typing import Any

import numpy as np

from malmoi.kernels.attention import QUERIES, Desk
from malmoi.kernels.checks import ArrayOf, Sizes, check_each, require
from malmoi.kernels.compiled import compiled
from malmoi.kernels.emitting import WIDE
from malmoi.kernels.integer_products import Quantized
from malmoi.kernels.products import PANEL
from malmoi.kernels.standby import PIECES, SIZE, TEXTS
from malmoi.kernels.text_rows import Matrix, Places
from malmoi.kernels.transformer import Network, Norms, Numbers, Pieces, Room

FLOATS = np.float32
IDS, BOUNDS = ArrayOf(np.int32, "ids"), ArrayOf(np.int64, "bounds")
WANTED, STATES = ArrayOf(np.int64, "wanted"), ArrayOf(FLOATS, "kept", "pieces", "dim")
BOARD = ArrayOf(np.int64, SIZE)
FITS, BAD_ID, BAD_PLACE, BAD_BOUNDS, TOO_LONG = range(5)
FAULTS = {
    BAD_ID: "a piece's id is not a row of the words",
    BAD_PLACE: "a piece's place is not a row of the places",
    BAD_BOUNDS: "bounds do not rise from 0 to the number of pieces",
    TOO_LONG: "a text is longer than the workspace or the distances",
}


def check_workspace(network: Network, room: Room, desk: Desk) -> None:
    """Refuse weights and workspace that do not fit each other."""
    layers, dim = network.attended_norm.gains.shape
    embedding, size = network.words.shape[1], _up(dim // network.heads, WIDE)
    require(dim % network.heads == 0, f"{network.heads} heads do not divide {dim} numbers")
    joined, inner = _columns(network.joined), _columns(network.inner)
    require(joined >= 3 * dim, f"queries, keys and values have {joined} columns")
    sizes: Sizes = {}
    _check_norms("table_norm", network.table_norm, 1, embedding, sizes)
    _check_norms("attended_norm", network.attended_norm, layers, dim, sizes)
    _check_norms("outer_norm", network.outer_norm, layers, dim, sizes)
    _check_dense("joined", network.joined, layers, room.state, room.joined)
    _check_dense("attended", network.attended, layers, room.seen, room.moved)
    _check_dense("inner", network.inner, layers, room.state, room.inner)
    _check_dense("outer", network.outer, layers, room.inner, room.moved)
    if network.project.panels.shape[1]:
        _check_dense("project", network.project, 1, room.table, room.state)
    else:
        require(embedding == dim, f"tables are {embedding} wide, not {dim}")
    rows = {"table": embedding, "state": dim, "joined": joined, "seen": dim, "inner": inner}
    rows["moved"] = dim
    desks: dict[str, tuple[str | int, ...]] = {
        "keys": ("panels", size, PANEL),
        "values": ("values", size),
        "found": (QUERIES, size),
    }
    flat = {"totals": QUERIES, "zeros": PANEL}
    check_each(
        [
            ("words", network.words, ArrayOf(FLOATS, "words", embedding)),
            ("places", network.places, ArrayOf(FLOATS, "places", embedding)),
            ("distances", network.distances, ArrayOf(FLOATS, network.heads, "distances")),
            *(
                (n, getattr(room, n), ArrayOf(FLOATS, "rows", _up(w, PANEL)))
                for n, w in rows.items()
            ),
            *((name, getattr(desk, name), ArrayOf(FLOATS, *axes)) for name, axes in desks.items()),
            ("scores", desk.scores, ArrayOf(FLOATS, QUERIES, "longest")),
            *((name, getattr(desk, name), ArrayOf(FLOATS, size)) for name, size in flat.items()),
        ],
        sizes,
    )
    longest, keys = sizes["longest"], sizes["panels"] * PANEL
    require(longest >= keys >= sizes["values"], f"there is room for {longest} scores, {keys} keys")
    _check_integers(network, room, desk.quantized)


def _check_norms(name: str, norms: Norms, layers: int, dim: int, sizes: Sizes) -> None:
    rule = ArrayOf(FLOATS, layers, dim)
    check_each(
        [(f"{name}.gains", norms.gains, rule), (f"{name}.shifts", norms.shifts, rule)], sizes
    )


def _check_dense(name: str, dense: Any, layers: int, rows: Matrix, out: Matrix) -> None:
    """Panels as deep as rows, and as many as what they become has columns."""
    panels, others = dense
    columns = _columns(dense)
    kinds = (np.float32, np.int16, np.int8)
    rest = ArrayOf(FLOATS, layers, columns)
    if panels.dtype != FLOATS:
        rest = ArrayOf(FLOATS, layers, columns // PANEL, 3, PANEL)
    check_each(
        [
            (f"{name}.panels", panels, ArrayOf(kinds, layers, "panels", "depth", PANEL)),
            (f"{name}.{dense._fields[1]}", others, rest),
        ],
        {},
    )
    depth = panels.shape[2]
    require(
        depth <= rows.shape[1], f"{name} has panels of depth {depth} for {rows.shape[1]} columns"
    )
    require(columns <= out.shape[1], f"{name} has {columns} columns for {out.shape[1]}")


def _check_integers(network: Network, room: Room, workspace: Quantized) -> None:
    """Workspace for quantized rows, where panels are of integers."""
    dense = (network.joined, network.attended, network.inner, network.outer)
    depth = max((each[0].shape[2] for each in dense if each[0].dtype != FLOATS), default=0)
    count = len(room.state) if depth else 0
    rows, scales = workspace
    fits = rows.ndim == 2 and rows.flags.c_contiguous and rows.shape[0] >= count
    fits &= rows.shape[1] >= depth and len(scales) >= count
    require(bool(fits), f"there is no room for {count} rows of {depth} integers")


def check_batch(
    network: Network,
    pieces: Pieces,
    room: Room,
    desk: Desk,
    wanted: Places,
    states: Matrix,
    board: Places,
) -> None:
    """Refuse a batch of other pieces than there are weights and workspace for."""
    sizes: Sizes = {"dim": network.attended_norm.gains.shape[1]}
    BOARD.check("board", board, sizes)
    IDS.check("ids", pieces.ids, sizes)
    IDS.check("places", pieces.places, sizes)
    BOUNDS.check("bounds", pieces.bounds, sizes)
    WANTED.check("wanted", wanted, sizes)
    STATES.check("states", states, sizes)
    count, texts = int(board[PIECES]), int(board[TEXTS])
    fits = 0 < count <= min(len(pieces.ids), len(room.state)) and 0 < texts < len(pieces.bounds)
    require(fits, f"{count} pieces of {texts} texts do not fit into a batch of {len(pieces.ids)}")
    layers = len(network.attended_norm.gains)
    require(0 < len(wanted) <= layers + 1, f"{len(wanted)} states are wanted of {layers} layers")
    kept = int(wanted.max())
    room_for = kept < len(states) and (kept < 0 or count <= states.shape[1])
    require(room_for, f"states {list(states.shape)} has no row {kept} of {count} pieces")
    longest = len(desk.values)
    if network.distances.shape[1]:
        longest = min(longest, network.distances.shape[1] // 2 + 1)
    limits = (len(network.words), len(network.places), longest)
    fault = find_fault(pieces.ids, pieces.places, pieces.bounds, count, texts, limits)
    if fault != FITS:
        raise ValueError(f"a batch of {count} pieces: {FAULTS[fault]}")


@compiled
def find_fault(
    ids: Numbers,
    places: Numbers,
    bounds: Places,
    count: int,
    texts: int,
    limits: tuple[int, int, int],
) -> int:
    """What is out of range in a batch; compiled, for it is looked through before each."""
    words, rows, longest = limits
    highest = lowest = most = least = np.int32(0)
    for i in range(count):
        highest, lowest = max(highest, ids[i]), min(lowest, ids[i])
        most, least = max(most, places[i]), min(least, places[i])
    if highest >= words or lowest < 0:
        return BAD_ID
    if most >= rows or least < 0:
        return BAD_PLACE
    if bounds[0] != 0 or bounds[texts] != count:
        return BAD_BOUNDS
    for text in range(texts):
        size = bounds[text + 1] - bounds[text]
        if size < 0:
            return BAD_BOUNDS
        if size > longest:
            return TOO_LONG
    return FITS


def _columns(dense: Any) -> int:
    return int(dense[0].shape[1]) * PANEL


def _up(number: int, step: int) -> int:
    return -(-number // step) * step
