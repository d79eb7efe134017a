# SPDX-License-Identifier: MIT
"""A random graph with its inputs: the model it is, what its nodes compute, and how far a result may be from that."""

import copy
import dataclasses

import numpy as np
import onnx
from onnx import helper, numpy_helper

import peer
import tolerance
from draw import is_float, onnx_type

# The version of the file format that came with an opset or later ones.
IR_VERSION = 10


@dataclasses.dataclass
class Value:
    """A tensor of a graph. `place`: input, initializer, constant, or node where a node computes it.

    `error`: how far each element may be from ONNX Runtime's, None where it must be equal.
    """

    name: str
    array: np.ndarray
    place: str = "node"
    error: np.ndarray | None = None

    @property
    def dtype(self):
        return self.array.dtype

    @property
    def shape(self):
        return self.array.shape

    @property
    def rank(self):
        return self.array.ndim

    @property
    def exact(self):
        return self.error is None

    @property
    def fixed(self):
        return self.place in ("initializer", "constant")


@dataclasses.dataclass
class Case:
    opset: int
    values: dict = dataclasses.field(default_factory=dict)  # name -> Value of inputs, initialisers and constants
    nodes: list = dataclasses.field(default_factory=list)  # NodeProto, each behind those it reads from
    outputs: list = dataclasses.field(default_factory=list)  # names
    functions: list = dataclasses.field(default_factory=list)  # FunctionProto
    symbols: dict = dataclasses.field(default_factory=dict)  # (name of an input, axis) -> symbol
    roundings: dict = dataclasses.field(default_factory=dict)  # name of a node's first output -> kind of rounding

    def copy(self):
        return copy.deepcopy(self)

    def inputs(self):
        return {v.name: v.array for v in self.values.values() if v.place == "input"}

    def model(self):
        nodes = [
            helper.make_node("Constant", [], [v.name], value=numpy_helper.from_array(v.array, v.name + "_value"))
            for v in self.values.values()
            if v.place == "constant"
        ]
        inputs = [
            declared(v, [self.symbols.get((v.name, d), n) for d, n in enumerate(v.shape)])
            for v in self.values.values()
            if v.place == "input"
        ]
        initializers = [
            numpy_helper.from_array(v.array, v.name) for v in self.values.values() if v.place == "initializer"
        ]
        outputs = [helper.make_empty_tensor_value_info(name) for name in self.outputs]
        return make_model(nodes + self.nodes, inputs, outputs, initializers, self)

    def evaluate(self):
        """The values of all nodes, as ONNX Runtime computes them one by one; raises peer.Refused."""
        values = {name: dataclasses.replace(v, error=None) for name, v in self.values.items()}
        for node in self.nodes:
            for v in evaluate_node(node, values, self):
                values[v.name] = v
        return values


def declared(value, dims=None):
    return helper.make_tensor_value_info(value.name, onnx_type(value.dtype), value.shape if dims is None else dims)


def make_model(nodes, inputs, outputs, initializers, case):
    graph = helper.make_graph(nodes, "random", inputs, outputs, initializers)
    domains = [helper.make_opsetid("", case.opset)]
    if case.functions:
        domains.append(helper.make_opsetid("local", 1))
    return helper.make_model(graph, opset_imports=domains, ir_version=IR_VERSION, functions=case.functions)


def captured(graph):
    """Names that a graph reads from outside of it."""
    inside = (
        {x.name for x in graph.input} | {x.name for x in graph.initializer} | {y for n in graph.node for y in n.output}
    )
    return {x for n in graph.node for x in reads(n) if x not in inside} | {
        y.name for y in graph.output if y.name not in inside
    }


def reads(node):
    names = [x for x in node.input if x]
    for a in node.attribute:
        if a.type == onnx.AttributeProto.GRAPH:
            names += sorted(captured(a.g))
    return list(dict.fromkeys(names))


def evaluate_node(node, values, case):
    """The node's outputs as Values, computed by ONNX Runtime from what the nodes before have computed."""
    given = [values[name] for name in reads(node)]
    outputs = [name for name in node.output if name]
    model = make_model(
        [node],
        [declared(v) for v in given if not v.fixed],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(v.array, v.name) for v in given if v.fixed],
        case,
    )
    session = peer.Session(model)
    # What is varied to see how results depend on it must be an input; where a node insists on constants it stays one.
    free = session
    if any(v.fixed and is_float(v.dtype) for v in given):
        try:
            free = peer.Session(
                make_model(
                    [node],
                    [declared(v) for v in given],
                    [helper.make_empty_tensor_value_info(name) for name in outputs],
                    [],
                    case,
                )
            )
        except peer.Refused:
            pass
    arrays = session.run({v.name: v.array for v in given if not v.fixed})
    errors = tolerance.errors(free, given, arrays, case.roundings.get(node.output[0], "rounded"))
    return [Value(name, array, "node", error) for name, array, error in zip(outputs, arrays, errors)]
