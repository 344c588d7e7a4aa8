"""The ONNX graph of an encoder, built directly from its weights.

A graph for some hidden states is small, refers to the model's own weight files, and contains no
layers beyond the last requested state. Attention, GELU and LayerNorm are fused operations of
onnxruntime.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from malmoi.encode.checkpoint.config import Config
from malmoi.encode.checkpoint.weights import TABLES, Weights, combined_positions
from malmoi.encode.runtime.onnx_file import Graph, SerializedGraph, Shapes
from malmoi.encode.runtime.relative_positions import relative_position_bias
from malmoi.files.tensors import Tensors

INPUTS: Shapes = {
    "token_ids": ["tokens"],
    "positions": ["tokens"],
    "pad": ["texts", "longest"],
    "unpad": ["tokens"],
    "attention_mask": ["texts", "longest"],
}
ATTENTION_BIAS = "attention_bias"  # [1, heads, longest, longest], added before the softmax
QKV = ("query", "key", "value")  # read the same input, so they become one matrix


def state_name(layer: int) -> str:
    """The name of the output with a hidden state."""
    return f"state{layer}"


def graph_tensors(weights: Weights, config: Config) -> Tensors:
    """The weights as the graph uses them: most unchanged, some concatenated or added up."""
    tensors: Tensors = {
        name: weight
        for name, weight in weights.items()
        if name not in TABLES and not any(f".{role}." in name for role in QKV)
    }
    tensors["word_embeddings"] = weights["word_embeddings"]
    tensors["position_embeddings"] = combined_positions(weights, config)
    tensors["qkv_widths"] = np.full(3, config.dim, np.int64)
    tensors["flat_shape"] = np.array([-1, config.dim], np.int64)
    if config.relative_buckets:
        tensors["relative_position_bias"] = relative_position_bias(
            weights["relative_position_bias"], config.positions
        )
    for layer in range(config.layers):
        roles = [f"layer.{layer}.{role}" for role in QKV]
        for part in ("weight", "bias"):
            tensors[f"layer.{layer}.qkv.{part}"] = np.concatenate(
                [weights[f"{role}.{part}"] for role in roles]
            )
    return tensors


def make_graph(
    config: Config, layers: Sequence[int], tensors: Tensors, folder: Path
) -> SerializedGraph:
    """The graph that computes these hidden states; the model's files are in `folder`."""
    graph = Graph(tensors, folder)
    inputs = dict(INPUTS)
    if config.relative_buckets:
        inputs["bias_indices"] = ["longest", "longest"]
        graph.add("Gather", ["relative_position_bias", "bias_indices"], ATTENTION_BIAS, axis=2)
    state = _embeddings(graph, config)
    for layer in range(max(layers)):
        state = _layer(graph, config, layer, state)
    outputs: Shapes = {state_name(layer): ["tokens", config.dim] for layer in layers}
    return graph.serialize(inputs, outputs)


def _embeddings(graph: Graph, config: Config) -> str:
    """The input of the first layer, [tokens, dim]."""
    words = graph.add("Gather", ["word_embeddings", "token_ids"])
    positions = graph.add("Gather", ["position_embeddings", "positions"])
    norm = ["embedding_norm.weight", "embedding_norm.bias"]
    name = state_name(0) if config.embedding_size == config.dim else None
    state = graph.fuse(
        "SkipLayerNormalization", [words, positions, *norm], name, epsilon=config.epsilon
    )
    if name is None:
        wide = graph.times(state, "embedding_projection.weight")
        state = graph.add("Add", [wide, "embedding_projection.bias"], state_name(0))
    return state


def _layer(graph: Graph, config: Config, layer: int, state: str) -> str:
    """One layer, [tokens, dim] to [tokens, dim]."""
    prefix = f"layer.{layer}"
    qkv = graph.times(state, f"{prefix}.qkv.weight")
    padded = graph.add("Gather", [qkv, "pad"])  # [texts, longest, 3 · dim]
    query, key, value = graph.split(padded)
    inputs = [query, key, value, f"{prefix}.qkv.bias", "attention_mask"]
    inputs += [ATTENTION_BIAS] if config.relative_buckets else []
    context = graph.fuse("MultiHeadAttention", inputs, num_heads=config.heads)
    packed = graph.add("Gather", [graph.add("Reshape", [context, "flat_shape"]), "unpad"])
    attn_out = graph.times(packed, f"{prefix}.attn_out.weight")
    state = _add_and_norm(graph, config, attn_out, state, (f"{prefix}.attn_out", "attn_norm"))
    ffn_up = graph.times(state, f"{prefix}.ffn_up.weight")
    gelu = "BiasGelu" if config.gelu == "exact" else "FastGelu"
    activated = graph.fuse(gelu, [ffn_up, f"{prefix}.ffn_up.bias"])
    ffn_down = graph.times(activated, f"{prefix}.ffn_down.weight")
    roles, name = (f"{prefix}.ffn_down", "ffn_norm"), state_name(layer + 1)
    return _add_and_norm(graph, config, ffn_down, state, roles, name)


def _add_and_norm(
    graph: Graph,
    config: Config,
    new: str,
    old: str,
    roles: tuple[str, str],
    name: str | None = None,
) -> str:
    """LayerNorm(new + bias + old); `roles` are the dense layer and its norm."""
    dense, norm = roles[0], f"{roles[0].rpartition('.')[0]}.{roles[1]}"
    inputs = [new, old, f"{norm}.weight", f"{norm}.bias", f"{dense}.bias"]
    return graph.fuse("SkipLayerNormalization", inputs, name, epsilon=config.epsilon)
