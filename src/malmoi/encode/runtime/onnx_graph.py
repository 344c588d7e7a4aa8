"""The ONNX graph of a BERT, made straight from its weights.

A graph for some of a model's hidden states is small, points into the model's own files, and goes
no deeper than the last state asked for. Attention, GELU and LayerNorm are the fused operations of
onnxruntime.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from malmoi.encode.checkpoint.config import Config
from malmoi.encode.checkpoint.weights import Weights
from malmoi.encode.runtime.onnx_file import Graph, SerializedTensor, Shapes
from malmoi.encode.runtime.relative_positions import distance_table
from malmoi.files.tensors import Tensors

INPUTS: Shapes = {"ids": ["pieces"], "places": ["pieces"], "pad": ["texts", "longest"],
                  "unpad": ["pieces"], "mask": ["texts", "longest"]}  # fmt: skip
BIAS = "distance_bias"  # [1, heads, longest, longest], added before attention's softmax
ATTENTION = ("query", "key", "value")  # which read the same, and so are one matrix
JOINED = ("words", "positions", "segments", "distances", *ATTENTION)


def state_name(layer: int) -> str:
    """The output that is a hidden state."""
    return f"state{layer}"


def lay_out(weights: Weights, config: Config) -> Tensors:
    """The weights as the graph wants them: most as they are, some joined or added up."""
    joined = [name for name in weights if any(role in name for role in JOINED)]
    laid: Tensors = {name: weight for name, weight in weights.items() if name not in joined}
    laid["word_table"] = weights["words"]
    positions = weights["positions"][config.skipped :]
    segments = weights.get("segments", np.zeros((1, config.embedding), np.float32))
    # A segment's vector is added to each position's: [segments · positions, embedding]
    laid["place_table"] = (segments[:, np.newaxis] + positions).reshape(-1, config.embedding)
    laid["widths"] = np.full(3, config.dim, np.int64)
    laid["flat"] = np.array([-1, config.dim], np.int64)
    if config.buckets:
        laid["distance_table"] = distance_table(weights["distances"], config.positions)
    for layer in range(config.layers):
        roles = [f"layer.{layer}.{role}" for role in ATTENTION]
        for part in ("weight", "bias"):
            laid[f"layer.{layer}.qkv.{part}"] = np.concatenate(
                [weights[f"{r}.{part}"] for r in roles]
            )
    return laid


def make_graph(
    config: Config, layers: Sequence[int], laid: Tensors, folder: Path
) -> SerializedTensor:
    """The graph that gives these hidden states; the model's files are in `folder`."""
    graph = Graph(laid, folder)
    inputs = dict(INPUTS)
    if config.buckets:
        inputs["distances"] = ["longest", "longest"]
        graph.add("Gather", ["distance_table", "distances"], BIAS, axis=2)
    state = _tables(graph, config)
    for layer in range(max(layers)):
        state = _layer(graph, config, layer, state)
    outputs: Shapes = {state_name(layer): ["pieces", config.dim] for layer in layers}
    return graph.serialised(inputs, outputs)


def _tables(graph: Graph, config: Config) -> str:
    """What goes into the first layer, [pieces, dim]."""
    words = graph.add("Gather", ["word_table", "ids"])
    places = graph.add("Gather", ["place_table", "places"])
    norm = ["table_norm.weight", "table_norm.bias"]
    last = state_name(0) if config.embedding == config.dim else None
    state = graph.fuse(
        "SkipLayerNormalization", [words, places, *norm], last, epsilon=config.epsilon
    )
    if last is None:
        wide = graph.times(state, "project.weight")
        state = graph.add("Add", [wide, "project.bias"], state_name(0))
    return state


def _layer(graph: Graph, config: Config, layer: int, state: str) -> str:
    """One layer, [pieces, dim] to [pieces, dim]."""
    own = f"layer.{layer}"
    joined = graph.times(state, f"{own}.qkv.weight")
    padded = graph.add("Gather", [joined, "pad"])  # [texts, longest, 3 · dim]
    query, key, value = graph.split(padded)
    given = [query, key, value, f"{own}.qkv.bias", "mask"] + ([BIAS] if config.buckets else [])
    seen = graph.fuse("MultiHeadAttention", given, num_heads=config.heads)
    packed = graph.add("Gather", [graph.add("Reshape", [seen, "flat"]), "unpad"])
    attended = graph.times(packed, f"{own}.attended.weight")
    state = _add_and_norm(graph, config, attended, state, f"{own}.attended")
    inner = graph.times(state, f"{own}.inner.weight")
    gelu = "BiasGelu" if config.gelu == "exact" else "FastGelu"
    raised = graph.fuse(gelu, [inner, f"{own}.inner.bias"])
    outer = graph.times(raised, f"{own}.outer.weight")
    return _add_and_norm(graph, config, outer, state, f"{own}.outer", state_name(layer + 1))


def _add_and_norm(
    graph: Graph, config: Config, new: str, old: str, role: str, name: str | None = None
) -> str:
    """LayerNorm(new + bias + old)."""
    rest = [f"{role}_norm.weight", f"{role}_norm.bias", f"{role}.bias"]
    return graph.fuse("SkipLayerNormalization", [new, old, *rest], name, epsilon=config.epsilon)
