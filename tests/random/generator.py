# SPDX-License-Identifier: MIT
"""Grows a random graph, node by node: each is one that ONNX Runtime computes, or another is drawn."""

import numpy as np
import onnx
from onnx import helper

import peer
import tables
import tolerance
from case import Case, Value, evaluate_node, reads
from draw import I64, Draw

OPSETS = tuple(range(7, 27))
USUAL = (13, 17, 18, 21)
LARGEST = 20000  # elements of a result


class Grown:
    """A graph that grows, with the values that its nodes have computed."""

    def __init__(self, draw, opset):
        self.draw = draw
        self.case = Case(opset)
        self.values = {}
        self.read = set()
        self.counted = set()  # names of values whose extents depend on elements
        self.named = 0

    def pool(self, unbound=False):
        """The values that a node may read; `unbound`: those whose extents depend on elements, too."""
        return [
            v
            for v in self.values.values()
            if tolerance.is_useful(v.array, v.error) and (unbound or v.name not in self.counted)
        ]

    def new_name(self, prefix):
        self.named += 1
        return f"{prefix}{self.named}"

    def add_value(self, array, fixed=0.2):
        place = self.draw.one_of(("initializer", "initializer", "constant")) if self.draw.chance(fixed) else "input"
        value = Value(self.new_name("x" if place == "input" else "w"), np.asarray(array), place)
        self.case.values[value.name] = self.values[value.name] = value
        return value

    def mark(self):
        return len(self.case.values), len(self.values), len(self.case.functions)

    def back_to(self, mark):
        """Forgets the values that were added since."""
        for kept, number in zip((self.case.values, self.values), mark[:2]):
            for name in list(kept)[number:]:
                del kept[name]
        del self.case.functions[mark[2] :]

    def add_node(self, node, rounding, counting=False):
        """Appends a node with what ONNX Runtime makes of it; raises peer.Refused."""
        self.case.roundings[node.output[0]] = rounding
        computed = evaluate_node(node, self.values, self.case)
        for v in computed:
            if v.array.size > LARGEST or v.rank > 6 or v.array.dtype.kind not in "fiub":
                raise peer.Refused("not worth it")
        self.case.nodes.append(node)
        for v in computed:
            self.values[v.name] = v
        self.read.update(reads(node))
        if counting or self.counted.intersection(reads(node)):
            self.counted.update(node.output)


def schema_of(name, opset):
    try:
        return onnx.defs.get_schema(name, opset, "")
    except Exception:  # onnx's own class, which it does not export
        return None


def draw_node(graph, entry, schema):
    """One node of an operator, its new operands added to the graph."""
    if entry.build:
        return entry.build(graph)
    c = tables.Context(graph.draw, entry, schema, graph)
    inputs, attributes = {}, {}
    for name, strategy in entry.fields.items():
        if not c.has(name):
            continue
        got = strategy(c, name)
        if name in schema.attributes:
            if got is not None:
                attributes[name] = got
            c.drawn[name] = got
            continue
        if (
            got is not None
            and not isinstance(got, Value)
            and not (isinstance(got, list) and got and isinstance(got[0], Value))
        ):
            dtype = c.draw.dtype(c.allowed(name))
            got = graph.add_value(np.asarray(got, dtype), 0.85)
            c.bind(name, got.dtype)
        c.drawn[name] = inputs[name] = got
    words = []
    for x in schema.inputs:
        got = inputs.get(x.name)
        words += [v.name for v in got] if isinstance(got, list) else [got.name if got is not None else ""]
    while words and not words[-1]:
        words.pop()
    count = entry.outputs(c) if callable(entry.outputs) else entry.outputs
    name = graph.new_name("y")
    outputs = [name if count == 1 else f"{name}_{i}" for i in range(count)]
    node = helper.make_node(entry.name, words, outputs)
    for name, value in attributes.items():
        node.attribute.append(helper.make_attribute(name, value, attr_type=int(schema.attributes[name].type)))
    return node


def grow(seed, only=None):
    """A case from a number; None where nothing came of it."""
    draw = Draw(seed)
    draw.special = draw.chance(0.15)
    opset = draw.one_of(USUAL if draw.chance(0.5) else OPSETS)
    graph = Grown(draw, opset)
    wanted = draw.one_of((1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 10, 12, 15, 20))
    names = [n for n in tables.TABLE if (not only or n in only)]
    weights = np.array([tables.TABLE[n].weight for n in names])
    tries = 0
    while len(graph.case.nodes) < wanted and tries < 6 * wanted + 20:
        tries += 1
        entry = tables.TABLE[names[draw.random.choice(len(names), p=weights / weights.sum())]]
        schema = None if entry.build else schema_of(entry.name, opset)
        if not entry.build and (schema is None or schema.deprecated):
            continue
        mark = graph.mark()
        try:
            graph.add_node(draw_node(graph, entry, schema), entry.rounding, entry.counting)
        except (peer.Refused, tables.Impossible):
            graph.back_to(mark)
    if not graph.case.nodes:
        return None
    choose_outputs(graph)
    choose_symbols(graph, seed)
    return graph.case


def choose_outputs(graph):
    """What no node reads is an output, and some of the rest."""
    made = [y for node in graph.case.nodes for y in node.output if y]
    read = {x for node in graph.case.nodes for x in reads(node)}
    graph.case.outputs = [y for y in made if y not in read or graph.draw.chance(0.1)]


def choose_symbols(graph, seed):
    """In some graphs extents of inputs are symbols, equal ones the same, if ONNX Runtime takes other values for them."""
    case, draw = graph.case, graph.draw
    if not draw.chance(0.3):
        return
    extents = sorted({n for name, x in case.inputs().items() for n in x.shape if n > 1})
    for n in draw.some_of(extents, 1)[:2]:
        for name, x in case.inputs().items():
            for axis, m in enumerate(x.shape):
                if m == n and draw.chance(0.9):
                    case.symbols[name, axis] = f"N{n}"
    if resized(case, seed) is None:
        case.symbols = {}


def resized(case, seed):
    """The same graph for inputs of other extents where they are symbols, if ONNX Runtime computes it; else None."""
    if not case.symbols:
        return None
    draw = Draw(seed + 1)
    for _ in range(3):
        extents = {s: draw.one_of((1, 2, 3, 5, 6, 10)) for s in sorted(set(case.symbols.values()))}
        other = case.copy()
        for name, x in case.inputs().items():
            shape = tuple(extents.get(case.symbols.get((name, d)), n) for d, n in enumerate(x.shape))
            if shape != x.shape:
                if x.dtype == I64 and x.ndim == 1:
                    return None  # numbers that say something of shapes
                low, high = (float(x.min()), float(x.max())) if x.size and x.dtype.kind in "iu" else (None, None)
                other.values[name].array = draw.elements(x.dtype, shape, low, high)
        try:
            other.evaluate()
            return other
        except peer.Refused:
            continue
    return None
