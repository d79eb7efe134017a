# SPDX-License-Identifier: MIT
"""Reductions, rows and products."""

import numpy as np

from draw import FLOATS, NUMBERS
from fields import axes_of, axis_of, computed, maybe, one_of, operator, real, tensor

data = tensor(types=NUMBERS)
# What has an order: no NaN.
ordered = dict(fits=lambda c, v: not np.isnan(v.array.astype(float)).any(), finite=True)
axes = maybe(axes_of("data"), 0.8)

operator(
    "ReduceSum ReduceMean ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceProd ReduceSumSquare",
    unbound=True,
    weight=5,
    data=data,
    keepdims=maybe(one_of(0, 1), 0.7),
    noop_with_empty_axes=maybe(one_of(0, 1), 0.3),
    axes=axes,
)
operator(
    "ReduceMax ReduceMin",
    "exact",
    data=tensor(),
    weight=1.5,
    keepdims=maybe(one_of(0, 1), 0.7),
    noop_with_empty_axes=maybe(one_of(0, 1), 0.3),
    axes=axes,
)
operator(
    "ArgMax ArgMin",
    "exact",
    jumps=True,
    data=tensor(low=1, types=NUMBERS, **ordered),
    axis=maybe(axis_of("data"), 0.7),
    keepdims=maybe(one_of(0, 1), 0.7),
    select_last_index=maybe(one_of(0, 1)),
)
operator(
    "Softmax LogSoftmax", unbound=True, weight=2, input=tensor(low=1, types=FLOATS), axis=maybe(axis_of("input"), 0.7)
)
operator(
    "Hardmax", "exact", jumps=True, input=tensor(low=1, types=FLOATS, **ordered), axis=maybe(axis_of("input"), 0.7)
)
operator("LpNormalization", input=tensor(low=1, types=FLOATS), axis=maybe(axis_of("input")), p=maybe(one_of(1, 2)))
operator(
    "CumSum CumProd",
    x=tensor(low=1, types=NUMBERS),
    axis=computed(lambda c: np.asarray(axis_of("x")(c, "axis"), c.draw.one_of(("int32", "int64")))),
    exclusive=maybe(one_of(0, 1)),
    reverse=maybe(one_of(0, 1)),
)


def right_factor(c):
    a, draw = c["A"].shape, c.draw
    if len(a) == 0:
        return (1,)
    if draw.chance(0.2):
        return (a[-1],)
    batch = [1 if draw.chance(0.3) else n for n in a[:-2]]
    return (*batch[draw.integer(0, len(batch)) if draw.chance(0.3) else 0 :], a[-1], draw.extent())


operator("MatMul", weight=3, A=tensor(low=1, types=NUMBERS), B=tensor(shape=right_factor, fixed=0.5))


def gemm_b(c):
    k = c["A"].shape[0 if c["transA"] else 1]
    n = c.draw.extent()
    return (n, k) if c["transB"] else (k, n)


def gemm_c(c):
    m, n = c["A"].shape[1 if c["transA"] else 0], c["B"].shape[0 if c["transB"] else 1]
    return c.draw.one_of(((m, n), (1, n), (n,), (m, 1), (), (1,)))


operator(
    "Gemm",
    weight=2,
    A=tensor(low=2, high=2, types=NUMBERS),
    transA=maybe(one_of(0, 1)),
    transB=maybe(one_of(0, 1)),
    alpha=maybe(real(-2, 2)),
    beta=maybe(real(-2, 2)),
    B=tensor(shape=gemm_b, fixed=0.6),
    C=lambda c, name: (
        maybe(tensor(shape=gemm_c, fixed=0.6), 0.7)(c, name)
        if c.schema.since_version >= 11
        else tensor(shape=gemm_c)(c, name)
    ),
)
