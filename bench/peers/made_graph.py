# SPDX-License-Identifier: MIT
"""Models of ONNX written operator by operator, with values and weights from one generator of random numbers."""

import numpy
import onnx
from onnx import helper, numpy_helper

OF_NUMPY = {
    "f64": numpy.float64, "f32": numpy.float32, "f16": numpy.float16, "i64": numpy.int64, "i32": numpy.int32,
    "u64": numpy.uint64, "u32": numpy.uint32, "u8": numpy.uint8, "i8": numpy.int8, "bool": numpy.bool_,
}  # fmt: skip
OF_ONNX = {name: helper.np_dtype_to_tensor_dtype(numpy.dtype(t)) for name, t in OF_NUMPY.items()}
random = numpy.random.default_rng(1)


def values(dtype, shape):
    """Floats around 0; small integers; bytes of all values."""
    if dtype.startswith("f"):
        return random.standard_normal(shape).astype(OF_NUMPY[dtype])
    low, high = {"bool": (0, 2), "u8": (0, 256), "i8": (-128, 128), "u32": (0, 7), "u64": (0, 7)}.get(dtype, (-6, 7))
    return random.integers(low, high, shape).astype(OF_NUMPY[dtype])


class Graph:
    """A model while it is written: inputs and weights by type and shape, operators by name."""

    def __init__(self):
        self.nodes, self.inputs, self.weights, self.values = [], [], [], {}

    def input(self, dtype, *shape, symbols={}):
        name = f"x{len(self.inputs)}"
        self.values[name] = values(dtype, shape)
        declared = [symbols.get(axis, extent) for axis, extent in enumerate(shape)]
        self.inputs.append(helper.make_tensor_value_info(name, OF_ONNX[dtype], declared))
        return name

    def weight(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def __getattr__(self, operator):
        def node(*inputs, outputs=1, **attributes):
            names = [f"t{len(self.nodes)}_{i}" for i in range(outputs)]
            inputs = [x if isinstance(x, str) else self.weight(x) for x in inputs]
            self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
            return names[0] if outputs == 1 else names

        return node

    def model(self, output):
        self.nodes.append(helper.make_node("Identity", [output], ["y"]))
        graph = helper.make_graph(
            self.nodes, "made", self.inputs, [onnx.ValueInfoProto(name="y")], self.weights
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        del model.graph.output[:]
        model.graph.output.extend(inferred.graph.output)
        return model


def number(dtype, x):
    return numpy.array(x, OF_NUMPY[dtype])


def ints(*x):
    return numpy.array(x, numpy.int64)
