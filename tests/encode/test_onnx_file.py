"""A graph that is written here is what the package onnx would have written."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from malmoi.encode.runtime.onnx_file import FUSED_DOMAIN, Graph
from malmoi.encode.runtime.protobuf import message, varint


def test_a_graph_is_read_by_onnx() -> None:
    weight = np.ones((3, 2), np.float32)
    graph = Graph({"weight": weight, "flat": np.array([-1, 3])}, Path("/models"))
    rows = graph.times("rows", "weight")
    shaped = graph.add("Reshape", [rows, "flat"])
    graph.fuse("SkipLayerNormalization", [shaped, shaped], "state", epsilon=1e-5)
    serialized = graph.serialize({"rows": ["tokens", 2]}, {"state": ["tokens", 3]})
    model = onnx.ModelProto.FromString(serialized.model)
    helper, kinds = onnx.helper, onnx.TensorProto
    nodes = [
        helper.make_node("Gemm", ["rows", "weight"], ["Gemm0"], name="Gemm0", transB=1, domain=""),
        helper.make_node("Reshape", ["Gemm0", "flat"], ["Reshape1"], name="Reshape1", domain=""),
        helper.make_node("SkipLayerNormalization", ["Reshape1", "Reshape1"], ["state"],
                         name="state", domain=FUSED_DOMAIN, epsilon=1e-5),
    ]  # fmt: skip
    assert list(model.graph.node) == nodes
    value = helper.make_tensor_value_info
    assert list(model.graph.input) == [value("rows", kinds.INT32, ["tokens", 2])]
    assert list(model.graph.output) == [value("state", kinds.FLOAT, ["tokens", 3])]
    flat, outside = model.graph.initializer
    assert onnx.numpy_helper.to_array(flat).tolist() == [-1, 3]
    assert (outside.name, list(outside.dims), outside.data_type) == ("weight", [3, 2], kinds.FLOAT)
    assert outside.data_location == kinds.EXTERNAL
    assert list(serialized.in_memory) == ["weight"]
    assert [(one.domain, one.version) for one in model.opset_import] == [
        ("", 20),
        (FUSED_DOMAIN, 1),
    ]
    assert model.ir_version == 10


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**31, 2**62, -1, -(2**63)])
def test_numbers_are_read_by_onnx(number: int) -> None:
    assert onnx.AttributeProto.FromString(message({3: number})).i == number
    assert len(varint(number)) <= 10
