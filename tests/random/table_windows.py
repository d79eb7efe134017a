# SPDX-License-Identifier: MIT
"""Operators that slide a window over images, signals and volumes: convolutions, pools, and their kin."""

import numpy as np

from draw import FLOATS
from fields import Impossible, computed, finite_tensor, maybe, numbers, one_of, operator, real, tensor


def image(c):
    """[N, C, D1, ...] with one to three spatial dimensions."""
    draw = c.draw
    spatial = draw.one_of((1, 2, 2, 2, 3))
    largest = {1: 17, 2: 9, 3: 5}[spatial]
    return [
        draw.one_of((1, 1, 2)),
        draw.one_of((1, 2, 3, 4, 6, 8)),
        *(draw.integer(1, largest) for _ in range(spatial)),
    ]


def is_image(c, v):
    return 3 <= v.rank <= 5 and v.array.size


def picture(c, name):
    """One of the graph's images, or a new one."""
    if (found := c.take(name, c.allowed(name), lambda v: is_image(c, v))) is not None:
        c.bind(name, found.dtype)
        return found
    return tensor(shape=image, fresh=True)(c, name)


def spatial(c, of="X"):
    return c[of].shape[2:]


def per_axis(options, of="X"):
    return lambda c: [c.draw.one_of(options) for _ in spatial(c, of)]


def kernel(of="X"):
    """Extents of a window that fits what it slides over, with its dilations, mostly."""

    def extents(c):
        reach = [d or 1 for d in (c["dilations"] or [1] * 9)]
        return [
            c.draw.integer(1, max(1, min(4, (n - 1) // d + 1 if c.draw.chance(0.8) else 3)))
            for n, d in zip(spatial(c, of), reach)
        ]

    return extents


def auto_pad(c, name):
    if not c.draw.chance(0.25):
        return "NOTSET" if c.draw.chance(0.1) else None
    return c.draw.one_of(("SAME_UPPER", "SAME_LOWER", "VALID"))


def pads(of="X", window=lambda c: c["kernel_shape"], less=1):
    """Pads before and behind, mostly shorter than the window."""

    def strategy(c, name):
        if (c["auto_pad"] or "NOTSET") != "NOTSET" or c.draw.chance(0.4):
            return None
        extents = list(window(c) or [1] * len(spatial(c, of)))
        return [c.draw.integer(0, max(0, min(2, k - less))) for k in extents * 2]

    return strategy


strides = maybe(numbers(per_axis((1, 1, 2, 3))))
dilations = maybe(numbers(per_axis((1, 1, 2, 3))), 0.4)

pool = dict(
    X=picture,
    dilations=dilations,
    kernel_shape=numbers(kernel()),
    strides=strides,
    auto_pad=auto_pad,
    pads=pads(),
    ceil_mode=maybe(one_of(0, 1)),
)
operator("AveragePool", weight=2, **pool, count_include_pad=maybe(one_of(0, 1)))
operator(
    "MaxPool",
    "exact",
    weight=2,
    **pool,
    storage_order=maybe(one_of(0, 1), 0.2),
    outputs=lambda c: c.draw.one_of((1, 1, 2)) if c.schema.since_version >= 8 else 1,
    jumps=False,
)
operator("LpPool", **pool, p=maybe(one_of(1, 2, 3)))
operator("GlobalAveragePool", X=picture)
operator("GlobalMaxPool", "exact", X=picture)
operator("GlobalLpPool", X=picture, p=maybe(one_of(1, 2, 3)))


def group(of="X"):
    def strategy(c, name):
        n = c[of].shape[1]
        g = c.draw.one_of([d for d in range(1, n + 1) if n % d == 0])
        return None if g == 1 and c.draw.chance(0.5) else g

    return strategy


def filters(of="X"):
    def shape(c):
        g = c["group"] or 1
        return [g * c.draw.one_of((1, 2, 3)), c[of].shape[1] // g, *kernel(of)(c)]

    return shape


def weight_window(name="W"):
    return lambda c: c[name].shape[2:]


def stated(name="W"):
    """kernel_shape, which may be left to the weight."""
    return maybe(lambda c, _: list(c[name].shape[2:]), 0.6)


def bias(axis=0, of="W", groups=False):
    return maybe(tensor(shape=lambda c: [c[of].shape[axis] * ((c["group"] or 1) if groups else 1)], fixed=0.9), 0.6)


operator(
    "Conv",
    weight=4,
    X=picture,
    group=group(),
    dilations=dilations,
    W=tensor(shape=filters(), fixed=0.8, fresh=True, finite=True),
    kernel_shape=stated(),
    strides=strides,
    auto_pad=auto_pad,
    pads=pads(window=weight_window()),
    B=bias(),
)


def transposed_filters(c):
    return [c["X"].shape[1], c.draw.one_of((1, 2, 3)), *(c.draw.integer(1, 3) for _ in spatial(c))]


def output_padding(c, name):
    steps, dilated = c["strides"] or [1] * len(spatial(c)), c["dilations"] or [1] * len(spatial(c))
    return [c.draw.integer(0, max(s, d) - 1) for s, d in zip(steps, dilated)]


operator(
    "ConvTranspose",
    weight=2,
    X=picture,
    group=group(),
    dilations=dilations,
    W=tensor(shape=transposed_filters, fixed=0.8, fresh=True, finite=True),
    kernel_shape=stated(),
    strides=strides,
    auto_pad=auto_pad,
    pads=pads(window=weight_window()),
    output_padding=maybe(output_padding, 0.4),
    output_shape=maybe(
        numbers(lambda c: [n * s + c.draw.integer(-1, 2) for n, s in zip(spatial(c), c["strides"] or [1] * 9)]), 0.15
    ),
    B=bias(1, groups=True),
)


def flat_picture(c, name):
    return finite_tensor(
        shape=lambda c: [c.draw.one_of((1, 2)), c.draw.one_of((2, 4, 6)), c.draw.integer(3, 7), c.draw.integer(3, 7)]
    )(c, name)


def deformed(c, per):
    x, w = c["X"].shape, c["W"].shape
    s, d = c["strides"] or [1, 1], c["dilations"] or [1, 1]
    p = c["pads"] or [0] * 4
    out = [(x[2 + i] + p[i] + p[i + 2] - d[i] * (w[2 + i] - 1) - 1) // s[i] + 1 for i in range(2)]
    if min(out) < 1:
        raise Impossible
    return [x[0], (c["offset_group"] or 1) * per * w[2] * w[3], *out]


operator(
    "DeformConv",
    X=flat_picture,
    group=maybe(one_of(1, 2)),
    offset_group=maybe(one_of(1, 2)),
    dilations=dilations,
    W=tensor(shape=filters(), fixed=0.8, fresh=True, finite=True),
    kernel_shape=stated(),
    strides=strides,
    pads=lambda c, name: [c.draw.integer(0, 2) for _ in range(4)] if c.draw.chance(0.6) else [0] * 4,
    offset=finite_tensor(shape=lambda c: deformed(c, 2)),
    B=bias(),
    mask=maybe(tensor(shape=lambda c: deformed(c, 1), least=0, most=1)),
)


byte_weights = tensor(shape=filters("x"), fixed=0.8, fresh=True, finite=True)
bytes_picture = tensor(shape=image, fresh=True)


def zero_point(of, shape=lambda c: ()):
    return tensor(shape=shape, least=0, most=9, fixed=0.8, fresh=True, finite=True)


operator(
    "ConvInteger",
    "exact",
    x=bytes_picture,
    group=group("x"),
    dilations=maybe(numbers(per_axis((1, 2), "x")), 0.3),
    w=byte_weights,
    kernel_shape=stated("w"),
    strides=maybe(numbers(per_axis((1, 2), "x"))),
    auto_pad=auto_pad,
    pads=pads("x", weight_window("w")),
    x_zero_point=maybe(zero_point("x")),
    w_zero_point=maybe(zero_point("w")),
)
scale = tensor(shape=lambda c: (), least=0.01, most=0.2, fixed=0.9)
channel_scale = tensor(shape=lambda c: c.draw.one_of(((), (c["w"].shape[0],))), least=0.01, most=0.2, fixed=0.9)
operator(
    "QLinearConv",
    "exact",
    jumps=True,
    x=bytes_picture,
    group=group("x"),
    dilations=maybe(numbers(per_axis((1, 2), "x")), 0.3),
    x_scale=scale,
    x_zero_point=zero_point("x"),
    w=byte_weights,
    kernel_shape=stated("w"),
    w_scale=channel_scale,
    w_zero_point=tensor(shape=lambda c: c["w_scale"].shape, least=0, most=0, fixed=1),
    y_scale=scale,
    y_zero_point=zero_point("y"),
    strides=maybe(numbers(per_axis((1, 2), "x"))),
    auto_pad=auto_pad,
    pads=pads("x", weight_window("w")),
    B=maybe(tensor(shape=lambda c: [c["w"].shape[0]], fixed=1, fresh=True)),
)

operator(
    "LRN",
    X=picture,
    size=one_of(1, 3, 5, 2),
    alpha=maybe(real(1e-4, 0.5)),
    beta=maybe(real(0.3, 1)),
    bias=maybe(real(0.5, 2)),
)


def columns(c):
    block, image = c.numbers("block_shape"), c.numbers("image_shape")
    d = c["dilations"] or [1] * len(block)
    s = c["strides"] or [1] * len(block)
    p = c["pads"] or [0] * 2 * len(block)
    count = [
        (n + p[i] + p[i + len(block)] - d[i] * (k - 1) - 1) // s[i] + 1 for i, (n, k) in enumerate(zip(image, block))
    ]
    if min(count) < 1:
        raise Impossible
    return [c.draw.integer(1, 2), c.draw.integer(1, 3) * int(np.prod(block)), int(np.prod(count))]


operator(
    "Col2Im",
    image_shape=numbers(lambda c: [c.draw.integer(2, 7) for _ in range(c.draw.one_of((1, 2, 2, 3)))]),
    block_shape=numbers(lambda c: [c.draw.integer(1, min(3, n)) for n in c.numbers("image_shape")]),
    dilations=maybe(lambda c, name: [c.draw.integer(1, 2) for _ in c.numbers("image_shape")], 0.3),
    strides=maybe(lambda c, name: [c.draw.integer(1, 2) for _ in c.numbers("image_shape")], 0.4),
    pads=maybe(lambda c, name: [c.draw.integer(0, 1) for _ in c.numbers("image_shape") * 2], 0.4),
    input=tensor(shape=columns),
)


def places(c):
    """A place for each element of X in an image twice as large."""
    n = c["X"].shape
    big = [2 * d for d in n[2:]]
    size = n[0] * n[1] * int(np.prod(big))
    return c.draw.random.permutation(size)[: int(np.prod(n))].reshape(n).astype("int64")


operator(
    "MaxUnpool",
    "exact",
    X=tensor(shape=lambda c: [1, c.draw.integer(1, 2), c.draw.integer(1, 3), c.draw.integer(1, 3)]),
    I=computed(places, 0.2),
    kernel_shape=lambda c, name: [2, 2],
    strides=lambda c, name: [2, 2],
)
operator(
    "GridSample",
    X=tensor(
        shape=lambda c: [
            c.draw.integer(1, 2),
            c.draw.integer(1, 3),
            *(c.draw.integer(1, 5) for _ in range(c.draw.one_of((2, 2, 3) if c.schema.since_version >= 20 else (2,)))),
        ],
        types=FLOATS,
    ),
    grid=tensor(
        shape=lambda c: [c["X"].shape[0], *(c.draw.integer(1, 4) for _ in c["X"].shape[2:]), c["X"].rank - 2],
        least=-1.4,
        most=1.4,
    ),
    mode=maybe(
        lambda c, name: c.draw.one_of(
            ("linear", "nearest", "cubic") if c.schema.since_version >= 20 else ("bilinear", "nearest", "bicubic")
        ),
        0.8,
    ),
    padding_mode=maybe(one_of("zeros", "border", "reflection"), 0.8),
    align_corners=maybe(one_of(0, 1)),
)
operator(
    "AffineGrid",
    size=numbers(
        lambda c: [
            c.draw.integer(1, 2),
            c.draw.integer(1, 3),
            *(c.draw.integer(1, 5) for _ in range(c.draw.one_of((2, 2, 3)))),
        ]
    ),
    theta=tensor(
        shape=lambda c: [c.numbers("size")[0], len(c.numbers("size")) - 2, len(c.numbers("size")) - 1], types=FLOATS
    ),
    align_corners=maybe(one_of(0, 1)),
)


def boxes(c):
    a = c.draw.random.uniform(0, 6, (c["number of boxes"], 2))
    b = a + c.draw.random.uniform(0, 4, a.shape)
    return np.concatenate([a, b], 1).astype(c["X"].dtype)


def batch_of_boxes(c):
    return c.draw.random.integers(0, c["X"].shape[0], c["rois"].shape[0]).astype("int64")


def drawn_boxes(c, name):
    c.drawn["number of boxes"] = c.draw.integer(1, 4)
    return computed(boxes, 0.2)(c, name)


operator(
    "RoiAlign",
    X=tensor(shape=lambda c: [c.draw.integer(1, 2), c.draw.integer(1, 3), c.draw.integer(2, 8), c.draw.integer(2, 8)]),
    rois=drawn_boxes,
    batch_indices=computed(batch_of_boxes, 0.2),
    mode=maybe(one_of("avg", "max")),
    output_height=maybe(one_of(1, 2, 3)),
    output_width=maybe(one_of(1, 2, 3)),
    sampling_ratio=maybe(one_of(0, 1, 2)),
    spatial_scale=maybe(real(0.3, 1)),
    coordinate_transformation_mode=maybe(one_of("half_pixel", "output_half_pixel")),
)
