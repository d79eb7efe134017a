# SPDX-License-Identifier: MIT
"""Operators that compute element by element."""

import numpy as np

from draw import EVERY, FLOATS, INTEGERS, NUMBERS, onnx_type
from fields import broadcast_with, computed, maybe, one_of, operator, real, tensor

any_tensor = tensor()
floats = tensor(types=FLOATS)

operator("Abs Neg Relu Sign Not BitwiseNot", "exact", unbound=True, X=any_tensor, input=any_tensor)
operator("Sqrt Exp Sigmoid Tanh Erf Softplus Softsign Reciprocal", unbound=True, weight=3, X=floats, input=floats)
operator("Log Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Mish HardSwish", weight=3, X=floats, input=floats)
operator("Floor Ceil Round", "exact", unbound=True, jumps=True, X=floats)
operator("IsNaN", "exact", jumps=True, X=floats)
operator(
    "IsInf", "exact", jumps=True, X=floats, detect_negative=maybe(one_of(0, 1)), detect_positive=maybe(one_of(0, 1))
)
operator("Elu Celu LeakyRelu ThresholdedRelu", X=floats, alpha=maybe(real(0.1, 2)))
operator("Selu", X=floats, alpha=maybe(real(0.5, 2)), gamma=maybe(real(0.5, 2)))
operator("HardSigmoid", X=floats, alpha=maybe(real(0.1, 1)), beta=maybe(real(0, 1)))
operator("Gelu", X=floats, approximate=maybe(one_of("none", "tanh")))
operator("Swish", X=floats, alpha=maybe(real(0.5, 2)))
operator("Shrink", input=any_tensor, lambd=maybe(real(0, 2)), bias=maybe(real(-1, 1)))
operator(
    "PRelu",
    X=any_tensor,
    slope=tensor(shape=lambda c: [1 if c.draw.chance(0.4) else n for n in c["X"].shape], types=NUMBERS),
)

operator("Add Sub Mul", weight=6, A=any_tensor, B=broadcast_with("A"))


def divisor(c, name):
    """Integers are divided by numbers other than 0 and -1: a processor's own division stops ONNX Runtime."""
    if c["A"].dtype.kind in "iu":
        return broadcast_with("A", least=1, most=9)(c, name)
    return broadcast_with("A")(c, name)


def modulus(c, name):
    return (
        broadcast_with("A", least=1, most=9)(c, name)
        if c["A"].dtype.kind in "iu" or c["A"].dtype == "float16"
        else broadcast_with("A")(c, name)
    )


operator("Div", weight=3, A=tensor(), B=divisor)
operator(
    "Mod",
    "exact",
    jumps=True,
    A=tensor(),
    fmod=lambda c, name: 1 if c["A"].dtype.kind == "f" or c.draw.chance(0.4) else None,
    B=modulus,
)
operator("Pow", X=tensor(types=NUMBERS), Y=broadcast_with("X", least=0, most=3))
operator("And Or Xor", "exact", A=any_tensor, B=broadcast_with("A"))
operator(
    "Equal Greater Less GreaterOrEqual LessOrEqual", "exact", jumps=True, A=any_tensor, B=broadcast_with("A"), weight=2
)
operator("BitwiseAnd BitwiseOr BitwiseXor", "exact", A=tensor(types=INTEGERS), B=broadcast_with("A"))
operator(
    "BitShift",
    "exact",
    X=tensor(types=INTEGERS),
    Y=broadcast_with("X", least=0, most=7),
    direction=one_of("LEFT", "RIGHT"),
)


def chain(c, name):
    """One to four tensors that broadcast with the first."""
    first = any_tensor(c, name)
    c.drawn[name + " first"] = first
    more = broadcast_with(name + " first")
    return [first] + [more(c, name) for _ in range(c.draw.one_of((0, 1, 1, 2, 3)))]


operator("Sum Mean", data_0=chain)
operator("Min Max", "exact", data_0=chain)


def bound(c, name):
    """A scalar of the input's type, or an attribute of the first opsets."""
    x = np.asarray(c.draw.elements(c.types.get("T", np.dtype("float32")), (), finite=True))
    return float(x) if name in c.schema.attributes else x


operator(
    "Clip",
    "exact",
    input=any_tensor,
    weight=1.5,
    min=maybe(
        lambda c, name: (
            float(np.nan_to_num(bound(c, name), posinf=9, neginf=-9))
            if name in c.schema.attributes
            else computed(lambda c: bound(c, name))(c, name)
        ),
        0.7,
    ),
    max=maybe(
        lambda c, name: (
            float(np.nan_to_num(bound(c, name), posinf=9, neginf=-9))
            if name in c.schema.attributes
            else computed(lambda c: bound(c, name))(c, name)
        ),
        0.7,
    ),
)
operator("Where", "exact", condition=tensor(), X=broadcast_with("condition"), Y=broadcast_with("X"), weight=2)


def target(c, name):
    """Element types that a cast may have as its result: of floats beyond an integer's range nobody says what comes."""
    x = c["input"].array
    if x.dtype.kind != "f":
        return onnx_type(c.draw.one_of(EVERY))
    x = x.astype(np.float64)
    whole = [
        t
        for t in INTEGERS
        if not x.size
        or (np.isfinite(x).all() and x.min() >= np.iinfo(t).min and x.max() <= min(2.0**31 - 1, np.iinfo(t).max))
    ]
    return onnx_type(c.draw.one_of([*FLOATS, np.dtype("bool"), *whole]))


operator("Cast", "rounded", unbound=True, jumps=True, weight=3, input=any_tensor, to=target)
operator("CastLike", "rounded", jumps=True, input=tensor(types=INTEGERS), target_type=tensor(types=EVERY))
operator(
    "BitCast",
    "exact",
    jumps=True,
    input=any_tensor,
    to=lambda c, name: onnx_type(c.draw.one_of([t for t in EVERY if t.itemsize == c["input"].dtype.itemsize])),
)
operator("Identity", "exact", unbound=True, input=any_tensor)
operator(
    "Dropout",
    "exact",
    data=floats,
    ratio=maybe(real(0, 0.9)),
    training_mode=maybe(lambda c, name: computed(lambda c: np.array(False))(c, name)),
    outputs=lambda c: c.draw.one_of((1, 1, 2)) if c.schema.since_version >= 10 else 1,
)
