"""A transformer's layers run by one thread, or by a crew: one leads, the others stand by for it.

All of a crew have the same room for a batch; the board says how much of it is in use.
"""

from malmoi.arrays import Float32Array, Int64Array
from malmoi.kernels.core.barrier import ThreadContext, look
from malmoi.kernels.core.jit import inlined, readily_compiled
from malmoi.kernels.core.mailbox import (
    COUNTER,
    MET,
    NO_MORE,
    PIECES,
    STATES,
    TEXTS,
    await_job,
    give,
    place,
)
from malmoi.kernels.transformer.attention import AttentionScratch
from malmoi.kernels.transformer.batch_checks import check_batch
from malmoi.kernels.transformer.layers import (
    ActivationBuffers,
    TokenBatch,
    TransformerWeights,
    run_layers,
)

LEADER = 0
NOBODY = -1  # where to ring for others who are not there


def take_part(
    network: TransformerWeights,
    pieces: TokenBatch,
    room: ActivationBuffers,
    desk: AttentionScratch,
    wanted: Int64Array,
    states: Float32Array,
    board: Int64Array,
    role: tuple[int, int, int],
) -> None:
    """The batch on the board for a leader, and for others one batch after the other.

    `role` is which part one does, of how many, and the pipe at which others sleep. Whoever does
    not lead wants nothing, and stays until there is no more to do. A leader checks the batch;
    weights and workspace are checked by `check_workspace` when they are made.
    """
    if role[0] == LEADER:
        check_batch(network, pieces, room, desk, wanted, states, board)
    run_batches(network, pieces, room, desk, wanted, states, board, role)


@readily_compiled
def run_batches(
    network: TransformerWeights,
    pieces: TokenBatch,
    room: ActivationBuffers,
    desk: AttentionScratch,
    wanted: Int64Array,
    states: Float32Array,
    board: Int64Array,
    role: tuple[int, int, int],
) -> None:
    """`take_part` without checks."""
    part, parts, pipe = role
    job = 0
    while True:
        if part == LEADER:
            board[MET] = look(place(board, COUNTER)) // parts
            board[STATES] = len(wanted)
            give(board, pipe)
        else:
            job = await_job(board, job, pipe)
        count, texts = board[PIECES], board[TEXTS]
        if count == NO_MORE:
            return
        given = TokenBatch(pieces.ids[:count], pieces.places[:count], pieces.bounds[: texts + 1])
        team = ThreadContext(part, parts, board[COUNTER:], board[MET])
        rows, depth = rows_of(room, count), wanted[: board[STATES]]
        run_layers(network, given, rows, desk, depth, states, team)
        if part == LEADER:
            return


@inlined
def rows_of(room: ActivationBuffers, count: int) -> ActivationBuffers:
    """So many rows of everything."""
    return ActivationBuffers(
        room.table[:count],
        room.state[:count],
        room.joined[:count],
        room.seen[:count],
        room.moved[:count],
        room.inner[:count],
    )
