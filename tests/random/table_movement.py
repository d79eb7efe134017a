# SPDX-License-Identifier: MIT
"""Operators that move elements."""

import numpy as np

from fields import Impossible, axes_of, axis_of, computed, either_sign, maybe, numbers, one_of, operator, tensor

any_tensor = tensor()


def factors(draw, n):
    """Extents whose product is n."""
    dims = []
    while n > 1 and len(dims) < 4:
        divisors = [d for d in range(2, n + 1) if n % d == 0]
        d = draw.one_of(divisors)
        dims.append(d)
        n //= d
    dims.append(n)
    if draw.chance(0.3):
        dims.insert(draw.integer(0, len(dims)), 1)
    draw.random.shuffle(dims)
    return dims


def new_shape(c):
    x, draw = c["data"], c.draw
    if x.array.size == 0:
        return list(x.shape) if not c["allowzero"] or draw.chance(0.5) else [0, 3]
    dims = factors(draw, x.array.size)
    if draw.chance(0.5):
        dims[draw.integer(0, len(dims) - 1)] = -1
    for d in range(min(len(dims), x.rank)):
        if dims[d] == x.shape[d] and draw.chance(0.5) and not c["allowzero"]:
            dims[d] = 0
    return dims


operator("Reshape", "exact", weight=3, data=any_tensor, allowzero=maybe(one_of(0, 1), 0.2), shape=numbers(new_shape))
operator(
    "Transpose",
    "exact",
    unbound=True,
    weight=3,
    data=any_tensor,
    perm=maybe(lambda c, name: c.draw.random.permutation(c["data"].rank).tolist(), 0.8),
)
operator(
    "Flatten",
    "exact",
    input=any_tensor,
    axis=maybe(
        lambda c, name: c.draw.integer(-c["input"].rank if c.schema.since_version >= 11 else 0, c["input"].rank)
    ),
)
operator("Squeeze", "exact", data=any_tensor, axes=maybe(axes_of("data", 1, lambda c, d: c["data"].shape[d] == 1), 0.7))


def unsqueezed(c):
    rank = c["data"].rank + c.draw.integer(1, 2)
    axes = c.draw.some_of(range(rank), rank - c["data"].rank)[: rank - c["data"].rank]
    return [either_sign(c.draw, d, rank) if c.schema.since_version >= 11 else d for d in axes]


operator("Unsqueeze", "exact", unbound=True, data=tensor(high=4), axes=numbers(unsqueezed))


def expanded(c):
    dims = [c.draw.one_of((1, n)) if n != 1 else c.draw.one_of((1, 2, 3, 4)) for n in c["input"].shape]
    if c.draw.chance(0.3) and len(dims) < 5:
        dims = [c.draw.one_of((1, 2, 3)), *dims]
    elif c.draw.chance(0.3):
        dims = dims[c.draw.integer(0, len(dims)) :]
    return dims


operator("Expand", "exact", input=any_tensor, shape=numbers(expanded))
operator(
    "Tile",
    "exact",
    input=tensor(low=1),
    repeats=numbers(lambda c: [c.draw.one_of((1, 1, 2, 3, 0 if c.draw.chance(0.1) else 2)) for _ in c["input"].shape]),
)


def concatenated(c, name):
    first = tensor(low=1)(c, name)
    c.drawn["axis of"] = first
    axis = c.draw.integer(0, first.rank - 1)
    c.drawn["axis drawn"] = axis

    def fits(c, v):
        return v.rank == first.rank and all(n == m or d == axis for d, (n, m) in enumerate(zip(v.shape, first.shape)))

    def shape(c):
        return [c.draw.extent() if d == axis else n for d, n in enumerate(first.shape)]

    values = [first]
    for _ in range(c.draw.one_of((0, 1, 1, 2, 3))):
        other = c.take(name, (first.dtype,), lambda v: fits(c, v))
        values.append(other if other is not None else tensor(shape=shape, fresh=True)(c, name))
    c.draw.random.shuffle(values)
    return values


operator(
    "Concat",
    "exact",
    weight=3,
    inputs=concatenated,
    axis=lambda c, name: (
        either_sign(c.draw, c["axis drawn"], c["axis of"].rank) if c.schema.since_version >= 11 else c["axis drawn"]
    ),
)


def parts(c):
    n = c["input"].shape[c["axis"] or 0]
    count = c.draw.integer(1, 4)
    cuts = sorted(c.draw.integer(0, n) for _ in range(count - 1))
    return [b - a for a, b in zip([0, *cuts], [*cuts, n])]


def number_of_outputs(c):
    n = c["input"].shape[c["axis"] or 0]
    return c.draw.integer(1, min(4, max(n, 1)))


def parts_of_split(c):
    if c["split"] is not None:
        return len(c.numbers("split"))
    if c["num_outputs"]:
        return c["num_outputs"]
    n = c["input"].shape[c["axis"] or 0]
    return c.draw.one_of([k for k in (1, 2, 3, 4) if n % k == 0])


operator(
    "Split",
    "exact",
    weight=2,
    input=tensor(low=1),
    axis=maybe(axis_of("input"), 0.7),
    num_outputs=lambda c, name: number_of_outputs(c) if c.draw.chance(0.5) else None,
    split=lambda c, name: parts(c) if not c["num_outputs"] and (c.has("num_outputs") or c.draw.chance(0.6)) else None,
    outputs=parts_of_split,
)


def slice_axes(c):
    return axes_of("data", 1)(c, "axes") if c.draw.chance(0.8) else None


def sliced(which):
    def values(c):
        axes = c.numbers("axes")
        count = len(axes) if axes is not None else c["data"].rank
        if which == "starts":
            c.drawn["far"] = 2**31 - 1 if c.draw.chance(0.1) else 10
        far = c["far"]
        if which == "steps":  # to the far end only forwards: backwards, ONNX Runtime takes that for the beginning
            return [c.draw.one_of((1, 1, 2, 3, far if far > 10 else -1, 1 if far > 10 else -2)) for _ in range(count)]
        return [c.draw.one_of((0, 1, 2, 3, 5, -1, -2, -3, far, -far)) for _ in range(count)]

    return values


operator(
    "Slice",
    "exact",
    weight=3,
    data=tensor(low=1),
    axes=numbers(slice_axes),
    starts=numbers(sliced("starts")),
    ends=numbers(sliced("ends")),
    steps=maybe(numbers(sliced("steps"))),
)


def indices(of, low=0, high=2, shape=None):
    """Indices into axis `axis` of an input, negative ones too."""

    def strategy(c):
        data = c[of]
        n = data.shape[(c["axis"] or 0)] if data.rank else 0
        dims = shape(c) if shape else c.draw.shape(low, high)
        if n == 0 and np.prod(dims, dtype=int):
            raise Impossible
        least = -n if c.schema.since_version >= 11 else 0
        return c.draw.random.integers(least, max(n, least + 1), dims).astype(c.draw.one_of(("int64", "int32")))

    return strategy


operator(
    "Gather",
    "exact",
    weight=2,
    data=tensor(low=1),
    axis=maybe(axis_of("data"), 0.7),
    indices=computed(indices("data"), 0.4),
)
operator(
    "GatherElements",
    "exact",
    data=tensor(low=1),
    axis=maybe(axis_of("data"), 0.7),
    indices=computed(indices("data", shape=lambda c: [c.draw.integer(1, n) if n else 0 for n in c["data"].shape]), 0.4),
)


def tuples(c):
    data, draw = c["data"], c.draw
    b = c["batch_dims"] or 0
    length = draw.integer(1, data.rank - b)
    outer = [*data.shape[:b], *draw.shape(0, 2)]
    limits = data.shape[b : b + length]
    if 0 in limits:
        raise Impossible
    return np.stack([draw.random.integers(-n, n, outer) for n in limits], -1).astype("int64")


operator(
    "GatherND",
    "exact",
    data=tensor(low=1),
    batch_dims=maybe(lambda c, name: c.draw.integer(0, c["data"].rank - 1), 0.3),
    indices=computed(tuples, 0.4),
)


def padding(c):
    x, draw = c["data"], c.draw
    axes = c.numbers("axes")
    shape = x.shape if axes is None else [x.shape[d] for d in axes]
    mode = c["mode"] or "constant"
    ends = []
    for n in shape:
        if mode == "constant":
            ends.append([draw.integer(-1 if n > 2 and draw.chance(0.3) else 0, 3) for _ in range(2)])
        else:
            most = {"reflect": n - 1, "edge": 3 if n else 0, "wrap": n}[mode]
            least = -1 if n > 2 and draw.chance(0.2) else 0
            ends.append([draw.integer(least, max(0, min(3, most))) for _ in range(2)])
    return [a for a, _ in ends] + [b for _, b in ends]


operator(
    "Pad",
    "exact",
    weight=2,
    data=tensor(low=1),
    mode=maybe(one_of("constant", "reflect", "edge", "wrap"), 0.7),
    axes=maybe(axes_of("data", 1), 0.4),
    pads=numbers(padding),
    value=maybe(lambda c, name: 1.5),
    constant_value=lambda c, name: (
        tensor(shape=lambda c: (), fixed=0.8)(c, name)
        if (c["mode"] or "constant") == "constant" and c.draw.chance(0.5)
        else None
    ),
)
operator(
    "DepthToSpace",
    "exact",
    input=tensor(
        shape=lambda c: (
            c.draw.one_of((1, 2)),
            c.draw.one_of((4, 8, 12)),
            c.draw.one_of((1, 2, 3)),
            c.draw.one_of((1, 2, 5)),
        ),
        fresh=False,
    ),
    blocksize=one_of(1, 2),
    mode=maybe(one_of("DCR", "CRD")),
)
operator(
    "SpaceToDepth",
    "exact",
    input=tensor(
        shape=lambda c: (c.draw.one_of((1, 2)), c.draw.one_of((1, 2, 3)), c.draw.one_of((2, 4)), c.draw.one_of((2, 6)))
    ),
    blocksize=one_of(1, 2),
)
operator(
    "Shape",
    "exact",
    weight=1.5,
    data=any_tensor,
    start=maybe(lambda c, name: c.draw.integer(-3, 3), 0.3),
    end=maybe(lambda c, name: c.draw.integer(-3, 3), 0.3),
)
operator("Size", "exact", data=any_tensor)
operator(
    "Trilu",
    "exact",
    input=tensor(low=2),
    upper=maybe(one_of(0, 1)),
    k=maybe(computed(lambda c: np.asarray(c.draw.integer(-4, 4), "int64"))),
)
