# SPDX-License-Identifier: MIT
"""Nodes that hold graphs: If, Loop and Scan, and calls of a model's own functions."""

import numpy as np
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from draw import FLOATS, onnx_type
from fields import Impossible, built

UNARY = {
    "f": ("Abs", "Neg", "Tanh", "Sigmoid", "Relu", "Identity", "Sin"),
    "i": ("Abs", "Neg", "Sign", "Identity"),
    "u": ("Identity",),
    "b": ("Not", "Identity"),
}
BINARY = {"f": ("Add", "Sub", "Mul"), "i": ("Add", "Sub"), "u": ("Identity",), "b": ("And", "Or", "Xor")}


def operand(graph, types=FLOATS, shape=None, low=0, high=4):
    """A value of the graph, or a new one."""
    found = [
        v
        for v in graph.pool()
        if v.dtype in types and (v.shape == shape if shape is not None else low <= v.rank <= high)
    ]
    if found and graph.draw.chance(0.7):
        return graph.draw.one_of(found)
    dims = shape if shape is not None else graph.draw.shape(low, high)
    return graph.add_value(graph.draw.elements(graph.draw.dtype(types), dims))


def steps(draw, dtype, start, others, result, least=1):
    """Up to three nodes that make `result` from `start`, of its shape, some with another operand of that shape."""
    names = [start] + [f"{result}_{i}" for i in range(draw.integer(least, 3) - 1)] + [result]
    nodes = []
    for a, b in zip(names, names[1:]):
        if others and draw.chance(0.5) and dtype.kind in "fib":
            nodes.append(helper.make_node(draw.one_of(BINARY[dtype.kind]), [a, draw.one_of(others)], [b]))
        else:
            nodes.append(helper.make_node(draw.one_of(UNARY[dtype.kind]), [a], [b]))
    return nodes


def info(name, dtype, shape=None):
    return helper.make_tensor_value_info(name, onnx_type(dtype), shape)


def branches(graph):
    draw, name = graph.draw, graph.new_name("y")
    a = operand(graph, (*FLOATS, np.dtype("int64"), np.dtype("bool")))
    b = operand(graph, (a.dtype,), a.shape)
    condition = graph.add_value(np.array(draw.chance(0.5)).reshape(draw.one_of(((), (1,)))), 0.2)
    count = draw.integer(1, 2)
    graphs = []
    for branch in ("then", "else"):
        nodes, outputs = [], []
        for i in range(count):
            y = f"{name}_{branch}_{i}"
            nodes += steps(draw, a.dtype, draw.one_of((a, b)).name, [a.name, b.name], y)
            outputs.append(info(y, a.dtype))
        graphs.append(helper.make_graph(nodes, branch, [], outputs))
    return helper.make_node(
        "If", [condition.name], [f"{name}_{i}" for i in range(count)], then_branch=graphs[0], else_branch=graphs[1]
    )


def loop(graph):
    draw, name = graph.draw, graph.new_name("y")
    state = operand(graph)
    other = operand(graph, (state.dtype,), state.shape)
    scans = draw.integer(0, 1)
    # Without a round, what was scanned has no extents but those that the body declares, which are not those of a symbol.
    rounds = graph.add_value(np.array(draw.integer(scans, 4), "int64"), 1)
    go = graph.add_value(np.array(True), 1) if draw.chance(0.5) else None
    nodes = [helper.make_node("Identity", ["go_on"], ["goes_on"])]
    others = [other.name]
    if draw.chance(0.4):
        nodes.append(helper.make_node("Cast", ["round"], ["round_number"], to=onnx_type(state.dtype)))
        others.append("round_number")
    nodes += steps(draw, state.dtype, "state", others, "next")
    outputs = [info("goes_on", np.dtype("bool")), info("next", state.dtype)]
    if scans:
        nodes += steps(draw, state.dtype, "next", others, "scanned")
        outputs.append(info("scanned", state.dtype))
    body = helper.make_graph(
        nodes,
        "body",
        [
            info("round", np.dtype("int64"), []),
            info("go_on", np.dtype("bool"), []),
            info("state", state.dtype, state.shape),
        ],
        outputs,
    )
    return helper.make_node(
        "Loop", [rounds.name, go.name if go else "", state.name], [f"{name}_{i}" for i in range(1 + scans)], body=body
    )


def scan(graph):
    draw, name = graph.draw, graph.new_name("y")
    if graph.case.opset < 9:
        raise Impossible
    x = operand(graph, low=1)
    axis = draw.integer(0, x.rank - 1)
    if x.shape[axis] > 6:
        raise Impossible
    inner = x.shape[:axis] + x.shape[axis + 1 :]
    state = operand(graph, (x.dtype,), inner)
    nodes = steps(draw, x.dtype, "state", ["x"], "next") + steps(draw, x.dtype, "next", ["x"], "scanned")
    body = helper.make_graph(
        nodes,
        "body",
        [info("state", x.dtype, inner), info("x", x.dtype, inner)],
        [info("next", x.dtype, inner), info("scanned", x.dtype, inner)],
    )
    attributes = {}
    if axis or draw.chance(0.3):
        attributes["scan_input_axes"] = [axis - x.rank if draw.chance(0.3) and graph.case.opset >= 11 else axis]
    if draw.chance(0.4):
        attributes["scan_input_directions"] = [draw.integer(0, 1)]
    if draw.chance(0.4):
        attributes["scan_output_directions"] = [draw.integer(0, 1)]
    if draw.chance(0.3):
        attributes["scan_output_axes"] = [draw.integer(0, len(inner))]
    return helper.make_node(
        "Scan", [state.name, x.name], [f"{name}_0", f"{name}_1"], num_scan_inputs=1, body=body, **attributes
    )


def call(graph):
    draw, name = graph.draw, graph.new_name("y")
    if graph.case.opset < 13:
        raise Impossible
    a = operand(graph)
    b = operand(graph, (a.dtype,), a.shape)
    nodes = steps(draw, a.dtype, "a", ["a", "b"], "c")
    leak = helper.make_node("LeakyRelu", ["c"], ["d"])
    leak.attribute.append(AttributeProto(name="alpha", ref_attr_name="slope", type=AttributeProto.FLOAT))
    word = f"F{name}"
    graph.case.functions.append(
        helper.make_function(
            "local", word, ["a", "b"], ["d"], [*nodes, leak], [helper.make_opsetid("", graph.case.opset)], ["slope"]
        )
    )
    return helper.make_node(
        word, [a.name, b.name], [name], domain="local", slope=round(draw.random.uniform(0.1, 0.5), 3)
    )


def constant(graph):
    """All forms of Constant."""
    draw, name = graph.draw, graph.new_name("y")
    form = draw.one_of(
        ("value", "value_float", "value_floats", "value_int", "value_ints", "sparse_value")
        if graph.case.opset >= 12
        else ("value",)
    )
    if form == "value":
        given = numpy_helper.from_array(draw.elements(draw.dtype(FLOATS), draw.shape()))
    elif form == "sparse_value":
        n = draw.integer(1, 9)
        at = np.sort(draw.random.permutation(n)[: draw.integer(1, n)]).astype("int64")
        given = helper.make_sparse_tensor(
            numpy_helper.from_array(draw.elements("float32", at.shape), "v"),
            helper.make_tensor("i", TensorProto.INT64, at.shape, at.tolist()),
            [n],
        )
    elif form.startswith("value_f"):
        given = [round(float(v), 3) for v in draw.random.uniform(-2, 2, 3)]
    else:
        given = [draw.integer(-5, 5) for _ in range(3)]
    if form in ("value_float", "value_int"):
        given = given[0]
    return helper.make_node("Constant", [], [name], **{form: given})


built("If", branches, weight=2)
built("Loop", loop, weight=1.5)
built("Scan", scan, weight=1.5)
built("Function", call, weight=1.5)
built("Constant", constant, "exact")
