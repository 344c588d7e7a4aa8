"""An ONNX file, node by node. Here, and only here, the package onnx is met.

Weights are not in it: they are pointed to in a file beside it, which is opened memory-mapped.
Knows nothing of what the nodes compute.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from malmoi.extras import require
from malmoi.files.source import Source
from malmoi.files.tensors import Tensors, open_tensors

FUSED = "com.microsoft"  # operations of onnxruntime
OPSET, IR_VERSION = 20, 10
Shapes = Mapping[str, list[str | int]]


@dataclass
class Graph:
    """Nodes one after the other; weights that a node names are pointed to in their file."""

    file: str
    tensors: Tensors
    start: int  # the file's address in memory
    nodes: list[Any] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    @classmethod
    def over(cls, weights: Path) -> Self:
        """A graph without nodes, over the weights in a file."""
        source = Source(weights)
        return cls(weights.name, open_tensors(source)[0], source.mapped.ctypes.data)

    def add(self, kind: str, inputs: list[str], name: str | None = None, **options: Any) -> str:
        """An operation of ONNX itself; gives the name of what comes out."""
        out = name or f"{kind}{len(self.nodes)}"
        self._node(kind, inputs, [out], **options)
        return out

    def fuse(self, kind: str, inputs: list[str], name: str | None = None, **options: Any) -> str:
        """A fused operation of onnxruntime."""
        return self.add(kind, inputs, name, domain=FUSED, **options)

    def split(self, padded: str) -> list[str]:
        """Query, key and value out of one matrix."""
        outs = [f"{padded}.{role}" for role in ("query", "key", "value")]
        self._node("Split", [padded, "widths"], outs, axis=2)
        return outs

    def _node(self, kind: str, inputs: list[str], outs: list[str], **options: Any) -> None:
        helper = require("onnx", extra="bert").helper
        self.used.update(name for name in inputs if name in self.tensors)
        self.nodes.append(helper.make_node(kind, inputs, outs, **options))

    def serialised(self, inputs: Shapes, outputs: Shapes) -> bytes:
        """The file's bytes; whole numbers go in and float32 comes out."""
        onnx = require("onnx", extra="bert")
        helper, kinds = onnx.helper, onnx.TensorProto
        value = helper.make_tensor_value_info
        given = [value(name, kinds.INT32, shape) for name, shape in inputs.items()]
        made = [value(name, kinds.FLOAT, shape) for name, shape in outputs.items()]
        weights = [self._weight(onnx, name) for name in sorted(self.used)]
        graph = helper.make_graph(self.nodes, "encoder", given, made, weights)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
        serialised: bytes = model.SerializeToString()
        return serialised

    def _weight(self, onnx: Any, name: str) -> Any:
        """A weight that lies in the file, or is so small that it stands in the graph."""
        array = self.tensors[name]
        if array.dtype != np.float32:
            return onnx.numpy_helper.from_array(array, name)
        weight = onnx.TensorProto(name=name, dims=array.shape, data_type=onnx.TensorProto.FLOAT)
        weight.data_location = onnx.TensorProto.EXTERNAL
        offset = array.ctypes.data - self.start
        place = {"location": self.file, "offset": offset, "length": array.nbytes}
        for key, value in place.items():
            weight.external_data.add(key=key, value=str(value))
        return weight
