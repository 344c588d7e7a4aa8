"""A transformer's layers on packed texts, all of them one after the other; threads may share them.

Each thread does its share of every step, of columns or rows or heads, and meets the others
before the next one. The equations are those of BERT (Devlin et al. 2019): attention and a
feed-forward part, each added to what went in and normalised.
"""

from typing import NamedTuple

import numpy as np

from malmoi.arrays import Float32Array, Int32Array, Int64Array
from malmoi.kernels.core.barrier import ThreadContext, meet, share
from malmoi.kernels.core.jit import inlined, readily_compiled
from malmoi.kernels.transformer.attention import AttentionScratch, attend
from malmoi.kernels.transformer.dense import NOT_BENT, DenseLayer, QuantizedDenseLayer, multiply

Span = tuple[int, int]  # from, to


class Norms(NamedTuple):
    """What rows are multiplied with and moved by once they are normal, each [layers, dim]."""

    gains: Float32Array
    shifts: Float32Array


class TransformerWeights(NamedTuple):
    """The weights; `project` has no panels where tables are as wide as the rest."""

    words: Float32Array  # [vocabulary, embedding]
    places: Float32Array  # [places, embedding]
    table_norm: Norms
    project: DenseLayer
    joined: DenseLayer | QuantizedDenseLayer  # queries, keys and values
    attended: DenseLayer | QuantizedDenseLayer
    attended_norm: Norms
    inner: DenseLayer | QuantizedDenseLayer
    outer: DenseLayer | QuantizedDenseLayer
    outer_norm: Norms
    distances: Float32Array  # [heads, 2 · positions − 1], or nothing
    heads: int
    epsilon: np.float32
    bend: int  # which GELU is between `inner` and `outer`


class TokenBatch(NamedTuple):
    """Texts one after the other: text i is bounds[i] to bounds[i + 1]."""

    ids: Int32Array
    places: Int32Array
    bounds: Int64Array


class ActivationBuffers(NamedTuple):
    """Rows for what is between the steps, each [pieces, columns in whole panels]."""

    table: Float32Array
    state: Float32Array
    joined: Float32Array
    seen: Float32Array
    moved: Float32Array
    inner: Float32Array


@inlined
def run_layers(
    network: TransformerWeights,
    pieces: TokenBatch,
    room: ActivationBuffers,
    desk: AttentionScratch,
    wanted: Int64Array,
    states: Float32Array,
    team: ThreadContext,
) -> None:
    """`states[wanted[n]]` [pieces, dim] becomes hidden state n, where that is not −1.

    It is enough if one of those who share the work wants them.
    """
    dim, own, quantized = states.shape[2], share(len(pieces.ids), team), desk.quantized
    projects = network.project.panels.shape[1] > 0
    look_up(network, pieces, room.table if projects else room.state, own)
    meeting = meet(team, 0)
    if projects:
        multiply(room.table, network.project, 0, room.state, quantized, team, NOT_BENT)
        meeting = meet(team, meeting)
    keep(room.state, states, wanted[0])
    for layer in range(len(wanted) - 1):
        multiply(room.state, network.joined, layer, room.joined, quantized, team, NOT_BENT)
        meeting = meet(team, meeting)
        attend_all(network, pieces, room, desk, dim, team)
        meeting = meet(team, meeting)
        multiply(room.seen, network.attended, layer, room.moved, quantized, team, NOT_BENT)
        meeting = meet(team, meeting)
        add_and_norm(room, network.attended_norm, layer, network.epsilon, dim, own)
        meeting = meet(team, meeting)
        multiply(room.state, network.inner, layer, room.inner, quantized, team, network.bend)
        meeting = meet(team, meeting)
        multiply(room.inner, network.outer, layer, room.moved, quantized, team, NOT_BENT)
        meeting = meet(team, meeting)
        add_and_norm(room, network.outer_norm, layer, network.epsilon, dim, own)
        meeting = meet(team, meeting)
        keep(room.state, states, wanted[layer + 1])


@readily_compiled
def look_up(network: TransformerWeights, pieces: TokenBatch, out: Float32Array, own: Span) -> None:
    """What goes into the first layer: a piece's vector and its place's, normalised."""
    dim = network.words.shape[1]
    for i in range(own[0], own[1]):
        word, place, row = network.words[pieces.ids[i]], network.places[pieces.places[i]], out[i]
        for d in range(dim):
            row[d] = word[d] + place[d]
        normalise(row, network.table_norm, 0, network.epsilon, dim)


@readily_compiled
def attend_all(
    network: TransformerWeights,
    pieces: TokenBatch,
    room: ActivationBuffers,
    desk: AttentionScratch,
    dim: int,
    team: ThreadContext,
) -> None:
    """Attention for this thread's share of all heads of all texts."""
    heads = network.heads
    first, last = share((len(pieces.bounds) - 1) * heads, team)
    for each in range(first, last):
        text, head = each // heads, each % heads
        begin, end = pieces.bounds[text], pieces.bounds[text + 1]
        span = (begin, end - begin)
        attend(room.joined, span, head, (dim, heads), network.distances, desk, room.seen)


@readily_compiled
def add_and_norm(
    room: ActivationBuffers, norms: Norms, layer: int, epsilon: np.float32, dim: int, own: Span
) -> None:
    """state = norm(state + moved)."""
    for i in range(own[0], own[1]):
        row, moved = room.state[i], room.moved[i]
        for d in range(dim):
            row[d] += moved[d]
        normalise(row, norms, layer, epsilon, dim)


@inlined
def normalise(row: Float32Array, norms: Norms, layer: int, epsilon: np.float32, dim: int) -> None:
    """Mean 0 and variance 1, then multiplied and moved (Ba et al. 2016)."""
    total = np.float32(0)
    for d in range(dim):
        total += row[d]
    mean = total / np.float32(dim)
    square = np.float32(0)
    for d in range(dim):
        square += (row[d] - mean) * (row[d] - mean)
    scale = np.float32(1) / np.sqrt(square / np.float32(dim) + epsilon)
    for d in range(dim):
        row[d] = (row[d] - mean) * scale * norms.gains[layer, d] + norms.shifts[layer, d]


@inlined
def keep(state: Float32Array, states: Float32Array, place: int) -> None:
    """A hidden state that is asked for."""
    if place >= 0:
        for i in range(len(state)):
            for d in range(states.shape[2]):
                states[place, i, d] = state[i, d]
