"""What a transformer's layers require: weights and workspace that fit, and batches within both.

Weights and workspace are checked when they are made, a batch whenever it is run.
"""

from typing import Any

import numpy as np

from malmoi.arrays import Float32Array, Int32Array, Int64Array
from malmoi.kernels.core.checks import ArrayOf, Sizes, check_each, require
from malmoi.kernels.core.jit import compiled
from malmoi.kernels.core.llvm import WIDE
from malmoi.kernels.core.mailbox import PIECES, SIZE, TEXTS
from malmoi.kernels.transformer.attention import QUERIES, AttentionScratch
from malmoi.kernels.transformer.gemm import PANEL
from malmoi.kernels.transformer.gemm_quantized import Quantized
from malmoi.kernels.transformer.layers import ActivationBuffers, TokenBatch, TransformerWeights

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


def check_workspace(
    network: TransformerWeights, room: ActivationBuffers, desk: AttentionScratch
) -> None:
    """Refuse weights and workspace that do not fit each other."""
    _check_tables(network)
    _check_room(network, room)
    _check_desk(network, desk)
    layers = len(network.attended_norm.gains)
    _check_dense("joined", network.joined, layers, room.state, room.joined)
    _check_dense("attended", network.attended, layers, room.seen, room.moved)
    _check_dense("inner", network.inner, layers, room.state, room.inner)
    _check_dense("outer", network.outer, layers, room.inner, room.moved)
    if network.project.panels.shape[1]:
        _check_dense("project", network.project, 1, room.table, room.state)
    _check_integers(network, room, desk.quantized)


def _check_tables(network: TransformerWeights) -> None:
    """Tables, norms, and sizes that follow from each other."""
    (layers, dim), embedding = network.attended_norm.gains.shape, network.words.shape[1]
    require(dim % network.heads == 0, f"{network.heads} heads do not divide {dim} numbers")
    joined = _columns(network.joined)
    require(joined >= 3 * dim, f"queries, keys and values have {joined} columns for {dim} numbers")
    projects = network.project.panels.shape[1] > 0
    require(projects or embedding == dim, f"tables are {embedding} wide, not {dim}")
    first, rest = ArrayOf(FLOATS, 1, embedding), ArrayOf(FLOATS, layers, dim)
    check_each(
        [
            ("words", network.words, ArrayOf(FLOATS, "words", embedding)),
            ("places", network.places, ArrayOf(FLOATS, "places", embedding)),
            ("distances", network.distances, ArrayOf(FLOATS, network.heads, "distances")),
            *(("table_norm", each, first) for each in network.table_norm),
            *(("attended_norm", each, rest) for each in network.attended_norm),
            *(("outer_norm", each, rest) for each in network.outer_norm),
        ],
        {},
    )


def _check_room(network: TransformerWeights, room: ActivationBuffers) -> None:
    """Rows as wide as what they hold, in whole panels."""
    dim, embedding = network.attended_norm.gains.shape[1], network.words.shape[1]
    joined, inner = _columns(network.joined), _columns(network.inner)
    widths = (embedding, dim, joined, dim, dim, inner)  # of each field of a Room
    rules = [ArrayOf(FLOATS, "rows", _up(width, PANEL)) for width in widths]
    check_each(zip(ActivationBuffers._fields, room, rules, strict=True), {})


def _check_desk(network: TransformerWeights, desk: AttentionScratch) -> None:
    """Room for the longest text of one head."""
    size = _up(network.attended_norm.gains.shape[1] // network.heads, WIDE)
    sizes: Sizes = {}
    check_each(
        [
            ("keys", desk.keys, ArrayOf(FLOATS, "panels", size, PANEL)),
            ("values", desk.values, ArrayOf(FLOATS, "longest", size)),
            ("scores", desk.scores, ArrayOf(FLOATS, QUERIES, "scores")),
            ("found", desk.found, ArrayOf(FLOATS, QUERIES, size)),
            ("totals", desk.totals, ArrayOf(FLOATS, QUERIES)),
            ("zeros", desk.zeros, ArrayOf(FLOATS, PANEL)),
        ],
        sizes,
    )
    keys, longest, scores = sizes["panels"] * PANEL, sizes["longest"], sizes["scores"]
    fits = scores >= keys >= longest
    require(fits, f"there is room for {keys} keys and {scores} scores, not for {longest} of each")


def _check_dense(name: str, dense: Any, layers: int, rows: Float32Array, out: Float32Array) -> None:
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


def _check_integers(
    network: TransformerWeights, room: ActivationBuffers, workspace: Quantized
) -> None:
    """Workspace for quantized rows, where panels are of integers."""
    dense = (network.joined, network.attended, network.inner, network.outer)
    depth = max((each[0].shape[2] for each in dense if each[0].dtype != FLOATS), default=0)
    rows, scales = workspace
    count = len(room.state) if depth else 0
    fits = rows.ndim == 2 and rows.flags.c_contiguous and rows.shape[0] >= count
    fits &= rows.shape[1] >= depth and len(scales) >= count
    require(bool(fits), f"there is no room for {count} rows of {depth} integers")


def check_batch(
    network: TransformerWeights,
    pieces: TokenBatch,
    room: ActivationBuffers,
    desk: AttentionScratch,
    wanted: Int64Array,
    states: Float32Array,
    board: Int64Array,
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
    ids: Int32Array,
    places: Int32Array,
    bounds: Int64Array,
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
