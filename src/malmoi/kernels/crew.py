"""The transformer's layers run by a crew: one thread leads, the others stand by for it.

All of them have the same room for a batch; the board says how much of it is in use.
"""

from malmoi.kernels.attention import Desk
from malmoi.kernels.compiled import inlined, readily_compiled
from malmoi.kernels.meeting import Team, look
from malmoi.kernels.standby import (
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
from malmoi.kernels.text_rows import Matrix, Places
from malmoi.kernels.transformer import Network, Pieces, Room, run_layers


@readily_compiled
def lead(
    network: Network,
    pieces: Pieces,
    room: Room,
    desk: Desk,
    wanted: Places,
    states: Matrix,
    board: Places,
    crew: tuple[int, int],
) -> None:
    """Run a batch with the others; `crew` is how many they all are, and where to ring for them."""
    parts, pipe = crew
    count = board[PIECES]
    board[MET] = look(place(board, COUNTER)) // parts
    board[STATES] = len(wanted)
    give(board, pipe)
    team = Team(0, parts, board[COUNTER:], board[MET])
    run_layers(network, used(pieces, board), rows_of(room, count), desk, wanted, states, team)


@readily_compiled
def stand_by(
    network: Network,
    pieces: Pieces,
    room: Room,
    desk: Desk,
    wanted: Places,
    states: Matrix,
    board: Places,
    place_in_crew: tuple[int, int, int],
) -> None:
    """Take part in every batch that is led, until there are no more; nothing is kept."""
    part, parts, pipe = place_in_crew
    job = 0
    while True:
        job = await_job(board, job, pipe)
        count = board[PIECES]
        if count == NO_MORE:
            return
        team = Team(part, parts, board[COUNTER:], board[MET])
        depth = wanted[: board[STATES]]
        run_layers(network, used(pieces, board), rows_of(room, count), desk, depth, states, team)


@inlined
def used(pieces: Pieces, board: Places) -> Pieces:
    """As many as the batch has."""
    count, texts = board[PIECES], board[TEXTS]
    return Pieces(pieces.ids[:count], pieces.places[:count], pieces.bounds[: texts + 1])


@inlined
def rows_of(room: Room, count: int) -> Room:
    """So many rows of everything."""
    return Room(
        room.table[:count],
        room.state[:count],
        room.joined[:count],
        room.seen[:count],
        room.moved[:count],
        room.inner[:count],
    )
