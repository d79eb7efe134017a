# SPDX-License-Identifier: MIT
"""Normalisations, losses and quantisation."""

import numpy as np

from draw import FLOATS, INTEGERS, onnx_type
from fields import axis_of, computed, maybe, one_of, operator, real, tensor
from table_windows import picture


def channels(of="X", axis=1):
    return lambda c: [c[of].shape[axis] if c[of].rank > axis else 1]


def per_channel(of="X", least=None, most=None):
    return tensor(shape=channels(of), least=least, most=most, fixed=0.9, types=FLOATS)


epsilon = maybe(real(1e-5, 1e-2))
operator(
    "BatchNormalization",
    weight=2,
    X=tensor(low=2, types=FLOATS),
    scale=per_channel(),
    B=per_channel(),
    mean=per_channel(),
    var=per_channel(least=0.1, most=3),
    input_mean=per_channel(),
    input_var=per_channel(least=0.1, most=3),
    epsilon=epsilon,
    momentum=maybe(real(0.5, 1)),
    spatial=maybe(one_of(1)),
)
operator(
    "InstanceNormalization",
    "summed",
    input=tensor(low=3, types=FLOATS),
    scale=per_channel("input"),
    B=per_channel("input"),
    epsilon=epsilon,
)


def tail(c):
    axis = c["axis"] if c["axis"] is not None else -1
    return c["X"].shape[axis:]


operator(
    "LayerNormalization",
    "summed",
    weight=2,
    X=tensor(low=1, types=FLOATS),
    axis=maybe(axis_of("X")),
    Scale=tensor(shape=tail, fixed=0.9),
    B=maybe(tensor(shape=tail, fixed=0.9)),
    epsilon=epsilon,
)
operator(
    "RMSNormalization",
    X=tensor(low=1, types=FLOATS),
    axis=maybe(axis_of("X")),
    scale=tensor(shape=tail, fixed=0.9),
    epsilon=epsilon,
)


def groups(c, name):
    n = c["X"].shape[1]
    return c.draw.one_of([d for d in range(1, n + 1) if n % d == 0])


operator(
    "GroupNormalization",
    "summed",
    X=picture,
    num_groups=groups,
    scale=tensor(shape=lambda c: [c["num_groups"] if c.schema.since_version < 21 else c["X"].shape[1]], fixed=0.9),
    bias=tensor(shape=lambda c: c["scale"].shape, fixed=0.9),
    epsilon=epsilon,
)
operator(
    "MeanVarianceNormalization",
    "summed",
    X=tensor(low=2, types=FLOATS),
    axes=lambda c, name: c.draw.some_of(range(c["X"].rank), 1) if c["X"].rank != 4 or c.draw.chance(0.5) else None,
)


def classes(c):
    """Class numbers for scores of shape [N, C, ...], some of them the ignored one."""
    x = c["scores"]
    found = c.draw.random.integers(0, max(x.shape[1], 1), (x.shape[0], *x.shape[2:])).astype(
        c.draw.one_of(("int64", "int32"))
    )
    if c["ignore_index"] is not None and c.draw.chance(0.5):
        found = np.where(c.draw.random.random(found.shape) < 0.3, c["ignore_index"], found).astype(found.dtype)
    return found


def scores(c, name):
    c.drawn["scores"] = x = tensor(
        low=2, high=4, types=FLOATS, fits=lambda c, v: v.array.size and np.isfinite(v.array).all(), finite=True
    )(c, name)
    return x


loss = dict(ignore_index=maybe(one_of(0, 1, -1, 100), 0.4), reduction=maybe(one_of("none", "mean", "sum"), 0.8))
class_weights = maybe(tensor(shape=lambda c: [c["scores"].shape[1]], least=0.1, most=2, fixed=0.8))
operator(
    "NegativeLogLikelihoodLoss", input=scores, **loss, target=computed(classes, 0.2), also={"weight": class_weights}
)
operator(
    "SoftmaxCrossEntropyLoss",
    scores=scores,
    **loss,
    labels=computed(classes, 0.2),
    weights=class_weights,
    outputs=lambda c: c.draw.one_of((1, 2))
)


def quantized(c, of):
    """The shape of scales: one, or from opset 13 on one for each element of an axis."""
    x = c[of]
    axis = c["axis"] if c["axis"] is not None else 1
    if c.schema.since_version < 13 or not -x.rank <= axis < x.rank or c.draw.chance(0.5):
        return ()
    return [x.shape[axis]]


operator(
    "QuantizeLinear",
    "exact",
    jumps=True,
    weight=1.5,
    x=tensor(fits=lambda c, v: np.isfinite(v.array.astype(float)).all(), finite=True),
    axis=maybe(axis_of("x"), 0.6),
    y_scale=tensor(shape=lambda c: quantized(c, "x"), least=0.05, most=1, fixed=0.8),
    y_zero_point=maybe(tensor(shape=lambda c: c["y_scale"].shape, least=0, most=20, fixed=0.8), 0.7),
    saturate=maybe(one_of(1)),
    output_dtype=lambda c, name: (
        onnx_type(c.draw.one_of(("uint8", "int8", "uint16", "int16")))
        if c["y_zero_point"] is None and c.draw.chance(0.3)
        else None
    ),
)
operator(
    "DequantizeLinear",
    weight=1.5,
    x=tensor(types=INTEGERS),
    axis=maybe(axis_of("x"), 0.6),
    x_scale=tensor(shape=lambda c: quantized(c, "x"), least=0.05, most=1, fixed=0.8),
    x_zero_point=maybe(tensor(shape=lambda c: c["x_scale"].shape, least=0, most=20, fixed=0.8)),
)
operator(
    "DynamicQuantizeLinear",
    "exact",
    jumps=True,
    x=tensor(low=1, types=FLOATS, fits=lambda c, v: v.array.size and np.isfinite(v.array).all(), finite=True),
    outputs=3,
)


def factor_b(c):
    a, draw = c["A"] or c["a"], c.draw
    return [*a.shape[:-2][draw.integer(0, 2) if a.rank > 2 else 0 :], a.shape[-1], draw.integer(1, 5)]


zero = tensor(shape=lambda c: (), least=0, most=9, fixed=0.8, fresh=True)
scale = tensor(shape=lambda c: (), least=0.01, most=0.2, fixed=0.9, fresh=True)
operator(
    "MatMulInteger",
    "exact",
    A=tensor(low=2, high=4),
    B=tensor(shape=factor_b, fixed=0.6),
    a_zero_point=maybe(zero),
    b_zero_point=maybe(zero),
)
operator(
    "QLinearMatMul",
    "exact",
    jumps=True,
    a=tensor(low=2, high=4),
    a_scale=scale,
    a_zero_point=zero,
    b=tensor(shape=factor_b, fixed=0.6),
    b_scale=scale,
    b_zero_point=zero,
    y_scale=scale,
    y_zero_point=zero,
)
