"""Self-attention of one head within one text.

    context = softmax(queries · keysᵀ + bias) · values        (Vaswani et al. 2017, equation 1)

Queries are already divided by the root of the head size. Only the last vector is padded.
"""

from typing import NamedTuple

from malmoi.arrays import Float32Array
from malmoi.kernels.core.jit import jit_finite
from malmoi.kernels.core.llvm import SIMD_WIDTH
from malmoi.kernels.transformer.activations import exp_shifted
from malmoi.kernels.transformer.gemm import PANEL, gemm_one_vector, gemm_panel, gemm_two_vectors
from malmoi.kernels.transformer.gemm_quantized import QuantizedRows

QUERY_BLOCK = 64  # queries whose scores are in memory at the same time


class AttentionScratch(NamedTuple):
    """Scratch memory of one thread; `quantized` is for dense layers in integers.

    Rows of `scores` are one panel longer than needed, so that they do not share cache sets.
    """

    keys: Float32Array  # [panels of the longest text, head size, PANEL]
    values: Float32Array  # [longest text, head size in whole vectors]
    scores: Float32Array  # [QUERY_BLOCK, longest text in whole panels + PANEL]
    context: Float32Array  # [QUERY_BLOCK, head size in whole vectors]
    totals: Float32Array  # [QUERY_BLOCK], the denominators of the softmax
    zeros: Float32Array  # [PANEL]
    quantized: QuantizedRows


@jit_finite
def attention_head(
    qkv: Float32Array,
    span: tuple[int, int],
    head: int,
    sizes: tuple[int, int],
    bias: Float32Array,
    scratch: AttentionScratch,
    out: Float32Array,
) -> None:
    """Attention of one head over the tokens of one text.

    `qkv` is [tokens, queries | keys | values], `span` the first token of the text and its number
    of tokens, `sizes` the hidden size and the number of heads, `bias` [heads, 2 · positions − 1]
    the relative position bias, or empty.
    """
    (first, count), (dim, heads) = span, sizes
    size = dim // heads
    column = head * size
    keys, values, scores, context = scratch.keys, scratch.values, scratch.scores, scratch.context
    for j in range(count):
        key = qkv[first + j, dim + column :]
        panel_keys, lane = keys[j // PANEL], j % PANEL
        for d in range(size):
            panel_keys[d, lane] = key[d]
        value, copy = qkv[first + j, 2 * dim + column :], values[j]
        for d in range(size):
            copy[d] = value[d]
    pairs = context.shape[1] // (2 * SIMD_WIDTH) * (2 * SIMD_WIDTH)
    for start in range(0, count, QUERY_BLOCK):
        rows = min(QUERY_BLOCK, count - start)
        queries = qkv[first + start : first + start + rows, column:]
        for panel in range((count + PANEL - 1) // PANEL):
            gemm_panel(queries, keys[panel, :size], scratch.zeros, scores[:, panel * PANEL :])
        for i in range(rows):
            if bias.shape[1] > 0:
                middle = bias.shape[1] // 2 - (start + i)
                for j in range(count):
                    scores[i, j] += bias[head, middle + j]
            scratch.totals[i] = exp_shifted(scores[i], count)
        for d in range(0, pairs, 2 * SIMD_WIDTH):
            gemm_two_vectors(scores[:rows], values[:count, d:], scratch.zeros, context[:, d:])
        for d in range(pairs, context.shape[1], SIMD_WIDTH):
            gemm_one_vector(scores[:rows], values[:count, d:], scratch.zeros, context[:, d:])
        for i in range(rows):
            row, weighted, total = out[first + start + i, column:], context[i], scratch.totals[i]
            for d in range(size):
                row[d] = weighted[d] / total
