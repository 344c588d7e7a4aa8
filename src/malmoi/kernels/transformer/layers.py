"""The layers of a transformer encoder on packed texts; several threads can share them.

Each thread computes its part of every step (columns, rows or heads) and waits at a barrier before
the next step. The equations are those of BERT (Devlin et al. 2019): self-attention and a
feed-forward network, each with a residual connection and layer normalization.
"""

from typing import NamedTuple

import numpy as np

from malmoi.arrays import Float32Array, Int32Array, Int64Array
from malmoi.kernels.core.barrier import ThreadContext, barrier_wait, partition
from malmoi.kernels.core.jit import jit_finite, jit_inline
from malmoi.kernels.transformer.attention import AttentionScratch, attention_head
from malmoi.kernels.transformer.dense import (
    NO_ACTIVATION,
    DenseLayer,
    QuantizedDenseLayer,
    apply_dense,
)

RowRange = tuple[int, int]  # start, stop


class LayerNormWeights(NamedTuple):
    """Scale and shift of layer normalization, each [layers, dim]."""

    weight: Float32Array
    bias: Float32Array


class TransformerWeights(NamedTuple):
    """The weights; `embedding_projection` is empty where embeddings have the hidden size."""

    word_embeddings: Float32Array  # [vocabulary, embedding size]
    position_embeddings: Float32Array  # [segments · positions, embedding size], both added up
    embedding_norm: LayerNormWeights
    embedding_projection: DenseLayer
    qkv: DenseLayer | QuantizedDenseLayer  # queries, keys and values
    attn_out: DenseLayer | QuantizedDenseLayer
    attn_norm: LayerNormWeights
    ffn_up: DenseLayer | QuantizedDenseLayer
    ffn_down: DenseLayer | QuantizedDenseLayer
    ffn_norm: LayerNormWeights
    relative_position_bias: Float32Array  # [heads, 2 · positions − 1], or [heads, 0]
    heads: int
    epsilon: np.float32
    activation: int  # the GELU between `ffn_up` and `ffn_down`


class TokenBatch(NamedTuple):
    """Packed texts: text i has the tokens bounds[i] to bounds[i + 1].

    `positions` are rows of `position_embeddings`.
    """

    token_ids: Int32Array
    positions: Int32Array
    bounds: Int64Array


class ActivationBuffers(NamedTuple):
    """Buffers for the results of each step, each [tokens, columns in whole panels]."""

    embeddings: Float32Array
    hidden: Float32Array
    qkv: Float32Array
    attn_context: Float32Array
    sublayer_out: Float32Array
    ffn_hidden: Float32Array


@jit_inline
def run_layers(
    network: TransformerWeights,
    batch: TokenBatch,
    buffers: ActivationBuffers,
    scratch: AttentionScratch,
    state_slots: Int64Array,
    states: Float32Array,
    context: ThreadContext,
) -> None:
    """Store hidden state n in `states[state_slots[n]]` [tokens, dim], where that is not −1.

    One thread of the group stores them; for the others all slots are −1.
    """
    dim, rows = states.shape[2], partition(len(batch.token_ids), context)
    quantized, epsilon = scratch.quantized, network.epsilon
    hidden, out = buffers.hidden, buffers.sublayer_out
    projects = network.embedding_projection.panels.shape[1] > 0
    embed_tokens(network, batch, buffers.embeddings if projects else hidden, rows)
    barrier = barrier_wait(context, 0)
    if projects:
        projection = network.embedding_projection
        apply_dense(buffers.embeddings, projection, 0, hidden, quantized, context, NO_ACTIVATION)
        barrier = barrier_wait(context, barrier)
    copy_state(hidden, states, state_slots[0])
    for layer in range(len(state_slots) - 1):
        apply_dense(hidden, network.qkv, layer, buffers.qkv, quantized, context, NO_ACTIVATION)
        barrier = barrier_wait(context, barrier)
        attention(network, batch, buffers, scratch, dim, context)
        barrier = barrier_wait(context, barrier)
        attended = buffers.attn_context
        apply_dense(attended, network.attn_out, layer, out, quantized, context, NO_ACTIVATION)
        barrier = barrier_wait(context, barrier)
        add_and_norm(buffers, network.attn_norm, layer, epsilon, dim, rows)
        barrier = barrier_wait(context, barrier)
        ffn_hidden, gelu = buffers.ffn_hidden, network.activation
        apply_dense(hidden, network.ffn_up, layer, ffn_hidden, quantized, context, gelu)
        barrier = barrier_wait(context, barrier)
        apply_dense(ffn_hidden, network.ffn_down, layer, out, quantized, context, NO_ACTIVATION)
        barrier = barrier_wait(context, barrier)
        add_and_norm(buffers, network.ffn_norm, layer, epsilon, dim, rows)
        barrier = barrier_wait(context, barrier)
        copy_state(hidden, states, state_slots[layer + 1])


@jit_finite
def embed_tokens(
    network: TransformerWeights, batch: TokenBatch, out: Float32Array, rows: RowRange
) -> None:
    """The input of the first layer: layer_norm(word embedding + position embedding)."""
    dim = network.word_embeddings.shape[1]
    for i in range(rows[0], rows[1]):
        word = network.word_embeddings[batch.token_ids[i]]
        position, row = network.position_embeddings[batch.positions[i]], out[i]
        for d in range(dim):
            row[d] = word[d] + position[d]
        layer_norm(row, network.embedding_norm, 0, network.epsilon, dim)


@jit_finite
def attention(
    network: TransformerWeights,
    batch: TokenBatch,
    buffers: ActivationBuffers,
    scratch: AttentionScratch,
    dim: int,
    context: ThreadContext,
) -> None:
    """Attention for this thread's part of all heads of all texts."""
    heads, bias = network.heads, network.relative_position_bias
    first, stop = partition((len(batch.bounds) - 1) * heads, context)
    for i in range(first, stop):
        text, head = i // heads, i % heads
        start, end = batch.bounds[text], batch.bounds[text + 1]
        span, sizes = (start, end - start), (dim, heads)
        attention_head(buffers.qkv, span, head, sizes, bias, scratch, buffers.attn_context)


@jit_finite
def add_and_norm(
    buffers: ActivationBuffers,
    norm: LayerNormWeights,
    layer: int,
    epsilon: np.float32,
    dim: int,
    rows: RowRange,
) -> None:
    """hidden = layer_norm(hidden + sublayer_out)."""
    for i in range(rows[0], rows[1]):
        row, out = buffers.hidden[i], buffers.sublayer_out[i]
        for d in range(dim):
            row[d] += out[d]
        layer_norm(row, norm, layer, epsilon, dim)


@jit_inline
def layer_norm(
    row: Float32Array, norm: LayerNormWeights, layer: int, epsilon: np.float32, dim: int
) -> None:
    """Normalize a row to mean 0 and variance 1, then scale and shift it (Ba et al. 2016)."""
    total = np.float32(0)
    for d in range(dim):
        total += row[d]
    mean = total / np.float32(dim)
    square = np.float32(0)
    for d in range(dim):
        square += (row[d] - mean) * (row[d] - mean)
    scale = np.float32(1) / np.sqrt(square / np.float32(dim) + epsilon)
    for d in range(dim):
        row[d] = (row[d] - mean) * scale * norm.weight[layer, d] + norm.bias[layer, d]


@jit_inline
def copy_state(hidden: Float32Array, states: Float32Array, slot: int) -> None:
    """Store a hidden state; slot −1 stores nothing."""
    if slot >= 0:
        for i in range(len(hidden)):
            for d in range(states.shape[2]):
                states[slot, i, d] = hidden[i, d]
