"""Checks of weights, workspace and batches before the transformer kernels run.

Weights and workspace are checked when they are allocated, a batch whenever it is run.
"""

from typing import Any

import numpy as np

from malmoi.arrays import Float32Array, Int32Array, Int64Array
from malmoi.kernels.core.checks import ArrayOf, Sizes, check_each, require
from malmoi.kernels.core.jit import jit
from malmoi.kernels.core.llvm import SIMD_WIDTH
from malmoi.kernels.core.mailbox import NUM_TEXTS, NUM_TOKENS, SIZE
from malmoi.kernels.transformer.attention import QUERY_BLOCK, AttentionScratch
from malmoi.kernels.transformer.gemm import PANEL
from malmoi.kernels.transformer.gemm_quantized import QuantizedRows
from malmoi.kernels.transformer.layers import ActivationBuffers, TokenBatch, TransformerWeights

FLOATS = np.float32
IDS, BOUNDS = ArrayOf(np.int32, "ids"), ArrayOf(np.int64, "bounds")
STATE_SLOTS, STATES = ArrayOf(np.int64, "state_slots"), ArrayOf(FLOATS, "slots", "tokens", "dim")
MAILBOX = ArrayOf(np.int64, SIZE)
NO_FAULT, BAD_ID, BAD_POSITION, BAD_BOUNDS, TOO_LONG = range(5)
FAULTS = {
    BAD_ID: "a token id is not a row of the word embeddings",
    BAD_POSITION: "a position is not a row of the position embeddings",
    BAD_BOUNDS: "bounds do not ascend from 0 to the number of tokens",
    TOO_LONG: "a text is longer than the workspace or the relative position bias",
}


def check_workspace(
    network: TransformerWeights, buffers: ActivationBuffers, scratch: AttentionScratch
) -> None:
    """Raise ValueError unless weights and workspace fit each other."""
    _check_tables(network)
    _check_buffers(network, buffers)
    _check_scratch(network, scratch)
    layers = len(network.attn_norm.weight)
    _check_dense("qkv", network.qkv, layers, buffers.hidden, buffers.qkv)
    _check_dense("attn_out", network.attn_out, layers, buffers.attn_context, buffers.sublayer_out)
    _check_dense("ffn_up", network.ffn_up, layers, buffers.hidden, buffers.ffn_hidden)
    _check_dense("ffn_down", network.ffn_down, layers, buffers.ffn_hidden, buffers.sublayer_out)
    if network.embedding_projection.panels.shape[1]:
        _check_dense(
            "embedding_projection",
            network.embedding_projection,
            1,
            buffers.embeddings,
            buffers.hidden,
        )
    _check_integers(network, buffers, scratch.quantized)


def _check_tables(network: TransformerWeights) -> None:
    """Check embeddings, norms, and sizes that depend on each other."""
    (layers, dim), embedding = network.attn_norm.weight.shape, network.word_embeddings.shape[1]
    require(dim % network.heads == 0, f"{network.heads} heads do not divide {dim} numbers")
    columns = _columns(network.qkv)
    require(
        columns >= 3 * dim, f"queries, keys and values have {columns} columns for {dim} numbers"
    )
    projects = network.embedding_projection.panels.shape[1] > 0
    require(projects or embedding == dim, f"tables are {embedding} wide, not {dim}")
    first, rest = ArrayOf(FLOATS, 1, embedding), ArrayOf(FLOATS, layers, dim)
    check_each(
        [
            ("word_embeddings", network.word_embeddings, ArrayOf(FLOATS, "words", embedding)),
            (
                "position_embeddings",
                network.position_embeddings,
                ArrayOf(FLOATS, "positions", embedding),
            ),
            (
                "relative_position_bias",
                network.relative_position_bias,
                ArrayOf(FLOATS, network.heads, "distances"),
            ),
            *(("embedding_norm", each, first) for each in network.embedding_norm),
            *(("attn_norm", each, rest) for each in network.attn_norm),
            *(("ffn_norm", each, rest) for each in network.ffn_norm),
        ],
        {},
    )


def _check_buffers(network: TransformerWeights, buffers: ActivationBuffers) -> None:
    """Check that buffers are as wide as their contents, in whole panels."""
    dim, embedding = network.attn_norm.weight.shape[1], network.word_embeddings.shape[1]
    qkv, ffn_hidden = _columns(network.qkv), _columns(network.ffn_up)
    widths = (embedding, dim, qkv, dim, dim, ffn_hidden)  # of each of the ActivationBuffers
    rules = [ArrayOf(FLOATS, "rows", _round_up(width, PANEL)) for width in widths]
    check_each(zip(ActivationBuffers._fields, buffers, rules, strict=True), {})


def _check_scratch(network: TransformerWeights, scratch: AttentionScratch) -> None:
    """Check that the scratch fits the longest text, for one head."""
    size = _round_up(network.attn_norm.weight.shape[1] // network.heads, SIMD_WIDTH)
    sizes: Sizes = {}
    check_each(
        [
            ("keys", scratch.keys, ArrayOf(FLOATS, "panels", size, PANEL)),
            ("values", scratch.values, ArrayOf(FLOATS, "longest", size)),
            ("scores", scratch.scores, ArrayOf(FLOATS, QUERY_BLOCK, "scores")),
            ("context", scratch.context, ArrayOf(FLOATS, QUERY_BLOCK, size)),
            ("totals", scratch.totals, ArrayOf(FLOATS, QUERY_BLOCK)),
            ("zeros", scratch.zeros, ArrayOf(FLOATS, PANEL)),
        ],
        sizes,
    )
    keys, longest, scores = sizes["panels"] * PANEL, sizes["longest"], sizes["scores"]
    fits = scores >= keys >= longest
    require(fits, f"the scratch fits {keys} keys and {scores} scores, not {longest} of each")


def _check_dense(name: str, dense: Any, layers: int, rows: Float32Array, out: Float32Array) -> None:
    """Check that panels fit the rows they multiply and the buffer for the result."""
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
    network: TransformerWeights, buffers: ActivationBuffers, workspace: QuantizedRows
) -> None:
    """Check the workspace for quantized rows, where panels are integers."""
    dense = (network.qkv, network.attn_out, network.ffn_up, network.ffn_down)
    depth = max((each[0].shape[2] for each in dense if each[0].dtype != FLOATS), default=0)
    rows, scales = workspace
    count = len(buffers.hidden) if depth else 0
    fits = rows.ndim == 2 and rows.flags.c_contiguous and rows.shape[0] >= count
    fits &= rows.shape[1] >= depth and len(scales) >= count
    require(bool(fits), f"the workspace does not fit {count} rows of {depth} integers")


def check_batch(
    network: TransformerWeights,
    batch: TokenBatch,
    buffers: ActivationBuffers,
    scratch: AttentionScratch,
    state_slots: Int64Array,
    states: Float32Array,
    mailbox: Int64Array,
) -> None:
    """Raise ValueError for a batch that does not fit the weights or the workspace."""
    sizes: Sizes = {"dim": network.attn_norm.weight.shape[1]}
    MAILBOX.check("mailbox", mailbox, sizes)
    IDS.check("token_ids", batch.token_ids, sizes)
    IDS.check("positions", batch.positions, sizes)
    BOUNDS.check("bounds", batch.bounds, sizes)
    STATE_SLOTS.check("state_slots", state_slots, sizes)
    STATES.check("states", states, sizes)
    count, texts = int(mailbox[NUM_TOKENS]), int(mailbox[NUM_TEXTS])
    fits = 0 < count <= min(len(batch.token_ids), len(buffers.hidden)) and 0 < texts < len(
        batch.bounds
    )
    require(
        fits, f"{count} tokens of {texts} texts do not fit into a batch of {len(batch.token_ids)}"
    )
    layers = len(network.attn_norm.weight)
    require(
        0 < len(state_slots) <= layers + 1,
        f"{len(state_slots)} slots are for more states than {layers} layers have",
    )
    slot = int(state_slots.max())
    fits = slot < len(states) and (slot < 0 or count <= states.shape[1])
    require(fits, f"states {list(states.shape)} has no slot {slot} of {count} tokens")
    longest = len(scratch.values)
    if network.relative_position_bias.shape[1]:
        longest = min(longest, network.relative_position_bias.shape[1] // 2 + 1)
    limits = (len(network.word_embeddings), len(network.position_embeddings), longest)
    fault = find_fault(batch.token_ids, batch.positions, batch.bounds, count, texts, limits)
    if fault != NO_FAULT:
        raise ValueError(f"a batch of {count} tokens: {FAULTS[fault]}")


@jit
def find_fault(
    token_ids: Int32Array,
    positions: Int32Array,
    bounds: Int64Array,
    count: int,
    texts: int,
    limits: tuple[int, int, int],
) -> int:
    """The first fault of a batch; compiled, since it runs before each batch."""
    words, rows, longest = limits
    max_id = min_id = max_position = min_position = np.int32(0)
    for i in range(count):
        max_id, min_id = max(max_id, token_ids[i]), min(min_id, token_ids[i])
        max_position = max(max_position, positions[i])
        min_position = min(min_position, positions[i])
    if max_id >= words or min_id < 0:
        return BAD_ID
    if max_position >= rows or min_position < 0:
        return BAD_POSITION
    if bounds[0] != 0 or bounds[texts] != count:
        return BAD_BOUNDS
    for text in range(texts):
        size = bounds[text + 1] - bounds[text]
        if size < 0:
            return BAD_BOUNDS
        if size > longest:
            return TOO_LONG
    return NO_FAULT


def _columns(dense: Any) -> int:
    return int(dense[0].shape[1]) * PANEL


def _round_up(number: int, step: int) -> int:
    return -(-number // step) * step
