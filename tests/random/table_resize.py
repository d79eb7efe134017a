# SPDX-License-Identifier: MIT
"""Resize and Upsample: all modes, coordinate transformations, ways to round, policies."""

import numpy as np

from fields import computed, maybe, numbers, one_of, operator, real, tensor

CROPS = "tf_crop_and_resize"  # ONNX Runtime leaves an axis whose extent stays as it is, and does not crop it
COORDINATES = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", CROPS)
SCALES = (0.25, 0.4, 0.5, 0.6, 0.75, 1.0, 1.0, 1.3, 1.5, 2.0, 2.0, 2.5, 3.0)


def picture(c):
    mode, draw = c["mode"] or "nearest", c.draw
    if mode == "nearest":
        return [draw.integer(1, 4) for _ in range(draw.one_of((1, 2, 3, 4, 4, 4, 5)))]
    spatial = draw.one_of((1, 2, 2, 2, 3)) if mode == "linear" else 2
    return [draw.integer(1, 2), draw.integer(1, 3), *(draw.integer(1, 7) for _ in range(spatial))]


def axes(c):
    rank = c["X"].rank
    if (c["mode"] or "nearest") == "nearest":
        chosen = c.draw.some_of(range(rank), 1)
    else:
        chosen = list(range(2, rank))
        c.draw.random.shuffle(chosen)
    return [d - rank for d in chosen] if c.draw.chance(0.3) else chosen


def resized_axes(c):
    given = c.numbers("axes")
    return [d % c["X"].rank for d in given] if given is not None else list(range(c["X"].rank))


def is_resized(c, d):
    return (c["mode"] or "nearest") == "nearest" or d >= 2


def scales(c):
    if c["by sizes"]:
        return None
    return np.array(
        [
            (
                c.draw.one_of([s for s in SCALES if s != 1 or c["coordinate_transformation_mode"] != CROPS])
                if is_resized(c, d)
                else 1.0
            )
            for d in resized_axes(c)
        ],
        "float32",
    )


def sizes(c):
    if not c["by sizes"]:
        return None
    n = c["X"].shape
    crops = c["coordinate_transformation_mode"] == CROPS
    return np.array(
        [
            c.draw.one_of([m for m in range(1, 10) if m != n[d] or not crops]) if is_resized(c, d) else n[d]
            for d in resized_axes(c)
        ],
        "int64",
    )


def roi(c):
    if c["coordinate_transformation_mode"] != CROPS:
        return None if c.schema.since_version >= 13 else np.zeros(0, "float32")
    count = len(resized_axes(c))
    resized = np.array([is_resized(c, d) for d in resized_axes(c)])
    a = np.where(resized, c.draw.random.uniform(-0.2, 0.6, count), 0)
    b = np.where(resized, a + c.draw.random.uniform(0.1, 0.7, count), 1)
    return np.concatenate([a, b]).astype("float32")


def scales_or_empty(c, name):
    """Before opset 13 the input is there even when sizes are given, then without elements."""
    c.drawn["by sizes"] = c.has("sizes") and c.draw.chance(0.5)
    x = scales(c)
    if x is None and c.schema.since_version < 13:
        x = np.zeros(0, "float32")
    return None if x is None else computed(lambda c: x, 1.0)(c, name)


def policy(c, name):
    return c.draw.one_of((None, "stretch", "not_larger", "not_smaller")) if c["by sizes"] else None


operator(
    "Resize",
    "summed",
    weight=4,
    mode=maybe(one_of("nearest", "linear", "linear", "cubic"), 0.9),
    X=tensor(shape=picture),
    antialias=maybe(one_of(0, 1), 0.4),
    coordinate_transformation_mode=lambda c, name: c.draw.one_of((None, *COORDINATES)),
    axes=maybe(numbers(axes), 0.4),
    roi=lambda c, name: computed(roi, 1.0)(c, name),
    scales=scales_or_empty,
    sizes=computed(sizes, 1.0),
    keep_aspect_ratio_policy=policy,
    nearest_mode=maybe(one_of("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"), 0.7),
    cubic_coeff_a=maybe(one_of(-0.75, -0.5), 0.4),
    exclude_outside=maybe(one_of(0, 1), 0.4),
    extrapolation_value=maybe(real(-1, 1), 0.3),
)


def upsample_scales(c, name):
    x = [c.draw.one_of((1.0, 2.0, 3.0, 1.5)) if is_resized(c, d) else 1.0 for d in range(c["X"].rank)]
    return x if name in c.schema.attributes else computed(lambda c: np.array(x, "float32"), 1.0)(c, name)


operator("Upsample", "summed", mode=maybe(one_of("nearest", "linear")), X=tensor(shape=picture), scales=upsample_scales)
