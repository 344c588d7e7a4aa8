"""An ONNX graph in memory, node by node. Here, and only here, the package onnx is met.

Weights are not in it. Those that lie in a file as the graph wants them are external data of that
file, which onnxruntime maps; all others are handed to the session beside the graph. Nothing is
written to disk. Knows nothing of what the nodes compute.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.extras import require
from malmoi.files.tensors import Tensors

FUSED = "com.microsoft"  # operations of onnxruntime
OPSET, IR_VERSION = 20, 10
HANDED_OVER = "in memory"  # the location of weights that are in no file
Shapes = Mapping[str, list[str | int]]


@dataclass(frozen=True, eq=False)
class Serialised:
    """A graph's bytes; the folder of the files it points into; the weights that are in none."""

    graph: bytes
    folder: Path
    handed_over: Tensors


@dataclass
class Graph:
    """Nodes one after the other, over weights by name; files of weights are all in one folder."""

    tensors: Tensors
    folder: Path
    nodes: list[Any] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def add(self, kind: str, inputs: list[str], name: str | None = None, **options: Any) -> str:
        """An operation of ONNX itself; gives the name of what comes out."""
        out = name or f"{kind}{len(self.nodes)}"
        self._node(kind, inputs, [out], **options)
        return out

    def fuse(self, kind: str, inputs: list[str], name: str | None = None, **options: Any) -> str:
        """A fused operation of onnxruntime."""
        return self.add(kind, inputs, name, domain=FUSED, **options)

    def times(self, rows: str, weight: str) -> str:
        """Rows [n, in] by the transpose of a weight [out, in]."""
        return self.add("Gemm", [rows, weight], transB=1)

    def split(self, padded: str) -> list[str]:
        """Query, key and value out of one matrix."""
        outs = [f"{padded}.{role}" for role in ("query", "key", "value")]
        self._node("Split", [padded, "widths"], outs, axis=2)
        return outs

    def _node(self, kind: str, inputs: list[str], outs: list[str], **options: Any) -> None:
        helper = require("onnx", extra="bert").helper
        self.used.update(name for name in inputs if name in self.tensors)
        self.nodes.append(helper.make_node(kind, inputs, outs, **options))

    def serialised(self, inputs: Shapes, outputs: Shapes) -> Serialised:
        """Whole numbers go in and float32 comes out."""
        onnx = require("onnx", extra="bert")
        helper, kinds = onnx.helper, onnx.TensorProto
        value = helper.make_tensor_value_info
        given = [value(name, kinds.INT32, shape) for name, shape in inputs.items()]
        made = [value(name, kinds.FLOAT, shape) for name, shape in outputs.items()]
        handed_over: Tensors = {}
        weights = [self._weight(onnx, name, handed_over) for name in sorted(self.used)]
        graph = helper.make_graph(self.nodes, "encoder", given, made, weights)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
        return Serialised(model.SerializeToString(), self.folder, handed_over)

    def _weight(self, onnx: Any, name: str, handed_over: Tensors) -> Any:
        """A weight that lies in a file, is handed over, or is so small that it is in the graph."""
        array = self.tensors[name]
        if array.dtype != np.float32:
            return onnx.numpy_helper.from_array(array, name)
        weight = onnx.TensorProto(name=name, dims=array.shape, data_type=onnx.TensorProto.FLOAT)
        weight.data_location = onnx.TensorProto.EXTERNAL
        file, offset = place_in_file(array, self.folder) or (HANDED_OVER, 0)
        if file == HANDED_OVER:
            handed_over[name] = np.ascontiguousarray(array)
        place = {"location": file, "offset": offset, "length": array.nbytes}
        for key, value in place.items():
            weight.external_data.add(key=key, value=str(value))
        return weight


def place_in_file(array: npt.NDArray[Any], folder: Path) -> tuple[str, int] | None:
    """The name and offset of the mapped file that an array is a view of, if in this folder."""
    if not (array.flags.c_contiguous and array.flags.aligned):
        return None
    base: Any = array
    while base is not None and not isinstance(base, np.memmap):
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    if base is None or base.filename is None or Path(base.filename).parent != folder:
        return None
    return Path(base.filename).name, array.ctypes.data - base.ctypes.data
