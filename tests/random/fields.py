# SPDX-License-Identifier: MIT
"""The words that the tables of operators are written in: what an input or an attribute of an operator may be.

A table has one entry an operator: for each input and attribute, by the name that ONNX's schema has for it, a strategy,
in an order in which each may look at those before it. The schema of the opset at hand says which are inputs, which are
attributes, which there are at all, and which element types an input may have. A strategy is a function of the Context
and the field's name; it returns a Value or a list of them for an input, plain numbers for either, None to leave it out.
"""

import dataclasses

import numpy as np

from draw import EVERY, ONNX_NAME

TABLE = {}


class Impossible(Exception):
    """What has been drawn so far leaves nothing for a field."""


@dataclasses.dataclass
class Operator:
    name: str
    fields: dict
    rounding: str  # see tolerance.py
    jumps: bool  # a small change of an operand may change a result a lot: computed from exact values alone
    outputs: object  # how many there are: a number or a function of the Context
    weight: float
    counting: bool = False  # its extents depend on elements
    unbound: bool = False  # it takes operands of such extents, which others need not
    build: object = None  # a function of the graph that makes the node, instead of the fields


def operator(
    names, rounding="rounded", jumps=False, outputs=1, weight=1.0, counting=False, unbound=False, also=None, **fields
):
    """Enters one operator, or several with the same fields; `also`: those whose names are words of this function."""
    fields |= also or {}
    for name in names.split():
        TABLE[name] = Operator(
            name, fields, rounding, jumps, outputs, weight / len(names.split()) ** 0.5, counting, unbound
        )


def built(name, build, rounding="rounded", weight=1.0):
    """Enters an operator whose nodes a function makes."""
    TABLE[name] = Operator(name, {}, rounding, False, 1, weight, build=build)


class Context:
    """What a strategy may look at: the graph so far, the schema, and by name what has been drawn for this node."""

    def __init__(self, draw, entry, schema, graph):
        self.draw, self.entry, self.schema, self.graph = draw, entry, schema, graph
        self.inputs = {x.name: x for x in schema.inputs}
        self.constraints = {t.type_param_str: t.allowed_type_strs for t in schema.type_constraints}
        self.types = {}
        self.drawn = {}

    def __getitem__(self, name):
        return self.drawn.get(name)

    def numbers(self, name):
        """A list of numbers that was drawn, whether it is an attribute or an input; None where it was left out."""
        got = self.drawn.get(name)
        return got.array.tolist() if hasattr(got, "array") else got

    def has(self, name):
        return name in self.inputs or name in self.schema.attributes

    def allowed(self, name, types=EVERY):
        """Element types that input `name` may have, as those before it decide."""
        word = self.inputs[name].type_str
        if word in self.types:
            return (self.types[word],)
        names = self.constraints.get(word, [word])
        return tuple(t for t in types if any(ONNX_NAME.get(n) == t for n in names))

    def bind(self, name, dtype):
        self.types[self.inputs[name].type_str] = np.dtype(dtype)

    def take(self, name, types, fits, fresh=False):
        """A value of the graph that may be input `name`, or None."""
        if fresh or not self.draw.chance(0.75):
            return None
        allowed = self.allowed(name, types)
        found = [
            v
            for v in self.graph.pool(self.entry.unbound)
            if v.dtype in allowed and fits(v) and (v.exact or not self.entry.jumps)
        ]
        if not found:
            return None
        # Of the values that nobody reads yet, mostly: they make one graph of what would be many.
        unread = [v for v in found if v.name not in self.graph.read]
        return self.draw.one_of(unread if unread and self.draw.chance(0.7) else found)


def tensor(
    low=0, high=5, shape=None, types=EVERY, least=None, most=None, fits=None, fresh=False, fixed=0.2, finite=False
):
    """A tensor of a rank from low to high or of a shape, a function of the Context; elements in [least, most].

    `fits` says of a value that is there already whether it will do; `fixed`: the share that are no inputs of the graph;
    `finite`: no infinities and what is no number, as operators may multiply them with zeros or leave that out.
    """

    def strategy(c, name):
        dims = tuple(int(n) for n in shape(c)) if shape else None

        def good(v):
            return (v.shape == dims if shape else low <= v.rank <= high) and (fits is None or fits(c, v))

        found = c.take(name, types, good, fresh or least is not None or most is not None)
        if found is None:
            allowed = c.allowed(name, types)
            if not allowed:
                raise Impossible
            dtype = c.draw.dtype(allowed)
            size = dims if shape else c.draw.shape(low, high)
            found = c.graph.add_value(c.draw.elements(dtype, size, least, most, finite), fixed)
        c.bind(name, found.dtype)
        return found

    return strategy


def finite_tensor(**how):
    """A tensor without infinities and what is no number: of those not even kernels of one library agree."""
    return tensor(fits=lambda c, v: bool(np.isfinite(v.array.astype(float)).all()), finite=True, **how)


def computed(array, fixed=0.85):
    """A new tensor whose elements are a function of the Context."""

    def strategy(c, name):
        x = array(c)
        if x is None:
            return None
        allowed = c.allowed(name) if name in c.inputs else ()
        x = np.asarray(x)
        if allowed and x.dtype not in allowed:
            x = x.astype(c.draw.dtype(allowed))
        if name in c.inputs:
            c.bind(name, x.dtype)
        return c.graph.add_value(x, fixed)

    return strategy


def numbers(function):
    """Plain numbers, as an attribute or as a tensor of the type that the schema wants."""
    return lambda c, name: function(c)


def maybe(strategy, probability=0.5):
    return lambda c, name: strategy(c, name) if c.draw.chance(probability) else None


def one_of(*options):
    return lambda c, name: c.draw.one_of(options)


def real(low, high):
    return lambda c, name: float(np.float32(c.draw.random.uniform(low, high)))


def either_sign(draw, axis, rank):
    return axis - rank if draw.chance(0.4) else axis


def axis_of(of, extra=0):
    """An axis of an input, negative or not; `extra`: of a result with that many more."""

    def strategy(c, name):
        rank = c[of].rank + extra
        return either_sign(c.draw, c.draw.integer(0, rank - 1), rank) if rank else 0

    return strategy


def axes_of(of, least=0, fits=lambda c, d: True):
    def strategy(c, name):
        value = c[of]
        axes = c.draw.some_of([d for d in range(value.rank) if fits(c, d)], least)
        sign = c.draw.chance(0.4) and (name in c.inputs or c.schema.since_version >= 11)
        return [d - value.rank if sign else d for d in axes]

    return strategy


def broadcast_shape(draw, shape):
    """A shape that broadcasts with `shape`."""
    dims = [1 if draw.chance(0.3) else n for n in shape]
    if draw.chance(0.4):
        dims = dims[draw.integer(0, len(dims)) :]
    elif draw.chance(0.15) and len(dims) < 5 and np.prod(shape, dtype=int) < 500:
        dims = [draw.extent() or 1, *dims]
    return [
        draw.one_of((1, 2, 3, 5)) if n == 1 and np.prod(shape, dtype=int) < 800 and draw.chance(0.4) else n
        for n in dims
    ]


def can_broadcast(a, b):
    return all(x == y or x == 1 or y == 1 for x, y in zip(reversed(a), reversed(b)))


def broadcast_with(of, types=EVERY, least=None, most=None):
    """A tensor that broadcasts with another: one of the graph's, or a new one."""

    def strategy(c, name):
        other = c[of]
        found = c.take(
            name,
            types,
            lambda v: can_broadcast(v.shape, other.shape) and v.array.size * other.array.size < 200000,
            least is not None or most is not None,
        )
        if found is not None:
            c.bind(name, found.dtype)
            return found
        return tensor(
            shape=lambda c: broadcast_shape(c.draw, other.shape), types=types, least=least, most=most, fresh=True
        )(c, name)

    return strategy
