"""Builds an ONNX model in memory, node by node; field numbers are those of onnx.proto.

It contains no weights. A weight that lies in a file in the layout of the graph is external data of
that file, which onnxruntime maps; all others are passed to the session beside the graph. Nothing
is written to disk. Knows nothing of what the nodes compute.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.encode.runtime.protobuf import MessageFields, message
from malmoi.files.tensors import Tensors

FUSED_DOMAIN = "com.microsoft"  # operations of onnxruntime
OPSET, IR_VERSION = 20, 10
FLOAT, INT32, INT64 = 1, 6, 7  # TensorProto.DataType
FLOAT_ATTRIBUTE, INT_ATTRIBUTE = 1, 2  # AttributeProto.AttributeType
EXTERNAL = 1  # TensorProto.DataLocation
IN_MEMORY = "in memory"  # the location of weights that are not in a file
Shapes = Mapping[str, list[str | int]]


@dataclass(frozen=True, eq=False)
class SerializedGraph:
    """The bytes of a model, the folder of its weight files, and the weights outside of them."""

    model: bytes
    folder: Path
    in_memory: Tensors


@dataclass
class Graph:
    """Nodes in order, and named weights; all weight files are in one folder."""

    tensors: Tensors
    folder: Path
    nodes: list[bytes] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def add(self, kind: str, inputs: list[str], name: str | None = None, **options: float) -> str:
        """Add an operation of ONNX itself; returns the name of its output."""
        out = name or f"{kind}{len(self.nodes)}"
        self._node(kind, inputs, [out], options)
        return out

    def fuse(self, kind: str, inputs: list[str], name: str | None = None, **options: float) -> str:
        """Add a fused operation of onnxruntime; returns the name of its output."""
        out = name or f"{kind}{len(self.nodes)}"
        self._node(kind, inputs, [out], options, domain=FUSED_DOMAIN)
        return out

    def times(self, rows: str, weight: str) -> str:
        """Rows [n, in] by the transpose of a weight [out, in]."""
        return self.add("Gemm", [rows, weight], transB=1)

    def split(self, padded: str) -> list[str]:
        """Split one matrix into query, key and value."""
        outs = [f"{padded}.{role}" for role in ("query", "key", "value")]
        self._node("Split", [padded, "qkv_widths"], outs, {"axis": 2})
        return outs

    def _node(
        self,
        kind: str,
        inputs: list[str],
        outs: list[str],
        options: Mapping[str, float],
        *,
        domain: str = "",
    ) -> None:
        self.used.update(name for name in inputs if name in self.tensors)
        attributes = [_attribute(name, value) for name, value in options.items()]
        node: MessageFields = {1: inputs, 2: outs, 3: outs[0], 4: kind, 5: attributes, 7: domain}
        self.nodes.append(message(node))

    def serialize(self, inputs: Shapes, outputs: Shapes) -> SerializedGraph:
        """The model with these int32 inputs and float32 outputs."""
        in_memory: Tensors = {}
        weights = [self._weight(name, in_memory) for name in sorted(self.used)]
        input_values = [_value(name, INT32, shape) for name, shape in inputs.items()]
        output_values = [_value(name, FLOAT, shape) for name, shape in outputs.items()]
        graph = message(
            {1: self.nodes, 2: "encoder", 5: weights, 11: input_values, 12: output_values}
        )
        opsets = [message({1: "", 2: OPSET}), message({1: FUSED_DOMAIN, 2: 1})]
        model = message({1: IR_VERSION, 7: graph, 8: opsets})
        return SerializedGraph(model, self.folder, in_memory)

    def _weight(self, name: str, in_memory: Tensors) -> bytes:
        """A weight in a file or in memory; small integer tensors go into the graph itself."""
        array = self.tensors[name]
        dims = list(array.shape)
        if array.dtype != np.float32:
            return message({1: dims, 2: INT64, 8: name, 9: array.astype("<i8").tobytes()})
        file, offset = location_in_file(array, self.folder) or (IN_MEMORY, 0)
        if file == IN_MEMORY:
            in_memory[name] = np.ascontiguousarray(array)
        location = {"location": file, "offset": offset, "length": array.nbytes}
        entries = [message({1: key, 2: str(value)}) for key, value in location.items()]
        return message({1: dims, 2: FLOAT, 8: name, 13: entries, 14: EXTERNAL})


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, int):
        return message({1: name, 3: value, 20: INT_ATTRIBUTE})
    return message({1: name, 2: float(value), 20: FLOAT_ATTRIBUTE})


def _value(name: str, kind: int, shape: list[str | int]) -> bytes:
    """An input or output; a dimension is a number, or a name for any size."""
    dims = [message({1: size} if isinstance(size, int) else {2: size}) for size in shape]
    tensor = message({1: kind, 2: message({1: dims})})
    return message({1: name, 2: message({1: tensor})})


def location_in_file(array: npt.NDArray[Any], folder: Path) -> tuple[str, int] | None:
    """The file and offset that an array is a view of, if the file is mapped and in this folder."""
    if not (array.flags.c_contiguous and array.flags.aligned):
        return None
    base: Any = array
    while base is not None and not isinstance(base, np.memmap):
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    if base is None or base.filename is None or Path(base.filename).parent != folder:
        return None
    return Path(base.filename).name, array.ctypes.data - base.ctypes.data
