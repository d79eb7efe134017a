# SPDX-License-Identifier: MIT
"""Operators that choose, place and count elements."""

import numpy as np

from draw import FLOATS, I64, NUMBERS, onnx_type
from fields import Impossible, axes_of, axis_of, computed, finite_tensor, maybe, numbers, one_of, operator, tensor

any_tensor = tensor()


def extent_along(c, of, axis="axis"):
    x = c[of]
    return x.shape[c[axis] if c[axis] is not None else -1] if x.rank else 1


def count(c):
    n = extent_along(c, "X")
    k = c.draw.integer(0 if c.draw.chance(0.1) else min(1, n), n)
    return k


def all_different(c, name):
    """Elements without ties: which of equal ones comes first differs."""
    x = c.take(
        name,
        c.allowed(name),
        lambda v: v.rank > 0 and len(np.unique(v.array)) == v.array.size and not np.isnan(v.array.astype(float)).any(),
    )
    if x is None:
        dtype = c.draw.dtype(c.allowed(name))
        shape = c.draw.shape(1, 4)
        size = int(np.prod(shape))
        if size > 200:
            shape = (size % 97 + 1,)
            size = shape[0]
        x = c.graph.add_value(
            (c.draw.random.permutation(size) - (size // 2 if dtype.kind in "if" and size < 200 else 0))
            .reshape(shape)
            .astype(dtype)
        )
    c.bind(name, x.dtype)
    return x


operator(
    "TopK",
    "exact",
    jumps=True,
    weight=1.5,
    X=all_different,
    axis=maybe(axis_of("X"), 0.7),
    k=numbers(count),
    K=computed(lambda c: np.array([count(c)]), 0.9),
    largest=maybe(one_of(0, 1)),
    sorted=maybe(one_of(1)),
    outputs=2,
)


def places(c):
    """Indices of which no two name the same element, where no reduction makes their order alike."""
    data, draw = c["data"], c.draw
    axis = (c["axis"] or 0) % data.rank
    n = data.shape[axis]
    dims = [draw.integer(1, m) if m else 0 for m in data.shape]
    if 0 in dims:
        raise Impossible
    if c["reduction"] in (None, "none"):
        found = np.argsort(draw.random.random([*dims[:axis], n, *dims[axis + 1 :]]), axis).take(range(dims[axis]), axis)
    else:
        found = draw.random.integers(0, n, dims)
    if c.schema.since_version >= 11 and draw.chance(0.5):
        found = np.where(draw.random.random(dims) < 0.3, found - n, found)
    return found.astype(draw.one_of(("int64", "int32")))


def reduction(c, name):
    return c.draw.one_of((None, "none", "add", "mul", *(("min", "max") if c.schema.since_version >= 18 else ())))


operator(
    "Scatter",
    "exact",
    data=tensor(low=1, high=4),
    axis=maybe(axis_of("data")),
    indices=computed(places, 0.4),
    updates=tensor(shape=lambda c: c["indices"].shape),
)
operator(
    "ScatterElements",
    weight=1.5,
    data=tensor(low=1, high=4),
    axis=maybe(axis_of("data")),
    reduction=reduction,
    indices=computed(places, 0.4),
    updates=tensor(shape=lambda c: c["indices"].shape),
)


def tuples(c):
    data, draw = c["data"], c.draw
    length = draw.integer(1, data.rank)
    limits = data.shape[:length]
    if 0 in data.shape:
        raise Impossible
    size = int(np.prod(limits))
    outer = [draw.integer(0 if draw.chance(0.05) else 1, min(size, 4))]
    if c["reduction"] in (None, "none"):
        flat = draw.random.permutation(size)[: outer[0]]
    else:
        flat = draw.random.integers(0, size, outer)
    found = np.stack(np.unravel_index(flat, limits), -1)
    return np.where(draw.random.random(found.shape) < 0.2, found - np.array(limits), found).astype(I64)


operator(
    "ScatterND",
    weight=1.5,
    data=tensor(low=1, high=4),
    reduction=reduction,
    indices=computed(tuples, 0.4),
    updates=tensor(shape=lambda c: [*c["indices"].shape[:-1], *c["data"].shape[c["indices"].shape[-1] :]]),
)


def kept(c):
    n = c["input"].array.size if c["axis"] is None else c["input"].shape[c["axis"]]
    return c.draw.random.integers(0, 2, c.draw.integer(1, max(1, n)) if c.draw.chance(0.3) else n).astype(bool)


operator(
    "Compress",
    "exact",
    jumps=True,
    counting=True,
    weight=0.7,
    input=tensor(low=1),
    axis=maybe(axis_of("input"), 0.6),
    condition=computed(kept, 0.5),
)
operator("NonZero", "exact", jumps=True, counting=True, weight=0.7, X=any_tensor)
operator(
    "Unique",
    "exact",
    jumps=True,
    counting=True,
    weight=0.7,
    X=tensor(low=1, types=NUMBERS, fits=lambda c, v: not np.isnan(v.array.astype(float)).any(), finite=True),
    axis=maybe(axis_of("X")),
    sorted=maybe(one_of(0, 1)),
    outputs=lambda c: c.draw.integer(1, 4),
)


def some_boxes(c):
    n = c["sizes"]
    a = c.draw.random.uniform(0, 1, (*n[::2], 2))
    return np.concatenate([a, a + c.draw.random.uniform(0.1, 0.6, a.shape)], -1).astype("float32")


def drawn_boxes(c, name):
    c.drawn["sizes"] = c.draw.integer(1, 2), c.draw.integer(1, 3), c.draw.integer(1, 6)
    return computed(some_boxes, 0.1)(c, name)


def scalar_of(low, high, dtype):
    return maybe(
        computed(
            lambda c: np.array(
                [c.draw.random.uniform(low, high)] if dtype != I64 else [c.draw.integer(low, high)], dtype
            )
        ),
        0.8,
    )


operator(
    "NonMaxSuppression",
    "exact",
    jumps=True,
    counting=True,
    weight=0.7,
    boxes=drawn_boxes,
    scores=computed(lambda c: c.draw.random.uniform(0, 1, c["sizes"]).astype("float32"), 0.1),
    max_output_boxes_per_class=scalar_of(0, 4, I64),
    iou_threshold=scalar_of(0, 0.8, "float32"),
    score_threshold=scalar_of(0, 0.6, "float32"),
    center_point_box=maybe(one_of(0, 1)),
)


def hot(c):
    return c.draw.random.integers(-c.draw.integer(1, 5), 6, c.draw.shape(0, 3)).astype(
        c.draw.one_of([t for t in c.allowed("indices") if t.kind in "if"])
    )


operator(
    "OneHot",
    "exact",
    jumps=True,
    indices=computed(hot, 0.3),
    depth=computed(lambda c: np.array(c.draw.integer(1, 6)).reshape(c.draw.one_of(((), (1,))))),
    values=tensor(shape=lambda c: (2,)),
    axis=maybe(axis_of("indices", 1)),
)


def lengths(c):
    batch, time = c["batch_axis"], c["time_axis"]
    x = c["input"].shape
    batch = 1 if batch is None else batch
    time = 0 if time is None else time
    if batch == time or x[time] == 0:
        raise Impossible
    return c.draw.random.integers(1, x[time] + 1, x[batch])


def order(c, name):
    if name == "batch_axis":
        c.drawn["order"] = c.draw.chance(0.5)
    return int(c["order"]) if name == "batch_axis" else int(not c["order"])


operator(
    "ReverseSequence",
    "exact",
    input=tensor(low=2),
    batch_axis=order,
    time_axis=order,
    sequence_lens=computed(lengths, 0.6),
)


def limits(c, name):
    draw = c.draw
    dtype = draw.dtype(c.allowed("start"))
    low, step, n = draw.integer(-5, 5), draw.one_of((1, 1, 2, 3, -1, -2)), draw.integer(0, 9)
    end = low + step * n + draw.one_of((0, 0, -step // 2))
    c.drawn["limit drawn"], c.drawn["delta drawn"] = np.array(end, dtype), np.array(step, dtype)
    return computed(lambda c: np.array(low, dtype), 0.8)(c, name)


operator(
    "Range",
    "exact",
    start=limits,
    limit=computed(lambda c: c["limit drawn"], 0.8),
    delta=computed(lambda c: c["delta drawn"], 0.8),
)
operator(
    "EyeLike",
    "exact",
    input=tensor(low=2, high=2),
    k=maybe(one_of(-2, -1, 0, 1, 2)),
    dtype=maybe(lambda c, name: onnx_type(c.draw.one_of(NUMBERS))),
)
operator("Det", X=finite_tensor(shape=lambda c: [*c.draw.shape(0, 2), *[c.draw.integer(1, 4)] * 2], types=FLOATS))
operator(
    "CenterCropPad",
    "exact",
    input_data=tensor(low=1, high=4),
    axes=maybe(axes_of("input_data", 1), 0.6),
    shape=numbers(
        lambda c: [
            c.draw.integer(1, 9)
            for _ in (c.numbers("axes") if c.numbers("axes") is not None else c["input_data"].shape)
        ]
    ),
)


def letters(c, name):
    """Factors for an equation, which goes to `equation`."""
    draw, extents = c.draw, {}
    alphabet = draw.one_of(("abcd", "ijkl", "AbCd", "xyzw"))
    terms, values = [], []
    dots = draw.one_of((0, 0, 0, 1, 2))
    dot_dims = [draw.integer(1, 3) for _ in range(dots)]
    dtype = draw.dtype([t for t in c.allowed("Inputs") if t.name in ("float32", "float64", "int32", "int64")])
    for _ in range(draw.one_of((1, 2, 2, 2, 3))):
        term = "".join(draw.one_of(alphabet) for _ in range(draw.integer(0 if dots else 1, 3)))
        if len(set(term)) < len(term) and draw.chance(0.6):
            term = "".join(dict.fromkeys(term))
        shape = [extents.setdefault(x, draw.integer(1, 4)) for x in term]
        if dots:
            at = draw.integer(0, len(term))
            shape[at:at] = dot_dims[draw.integer(0, dots) :]
            term = term[:at] + "..." + term[at:]
        terms.append(term)
        c.drawn["shape of factor"] = shape
        values.append(tensor(shape=lambda c: c["shape of factor"], types=(dtype,), fits=None)(c, name))
    space = " " if draw.chance(0.1) else ""
    equation = f",{space}".join(terms)
    if draw.chance(0.8):
        kept = draw.some_of(sorted(set("".join(terms)) - {"."}))
        if dots:
            kept.insert(draw.integer(0, len(kept)), "...")
        equation += f"{space}->{space}" + "".join(kept)
    c.drawn["equation drawn"] = equation
    return values


operator("Einsum", weight=2, Inputs=letters, equation=lambda c, name: c["equation drawn"])


def cache(c, name):
    return tensor(
        shape=lambda c: [c.draw.integer(1, 3), c.draw.integer(1, 2), c.draw.integer(2, 6), c.draw.integer(1, 3)]
    )(c, name)


operator(
    "TensorScatter",
    "exact",
    past_cache=cache,
    axis=maybe(one_of(-2, 2)),
    mode=maybe(one_of("linear", "circular")),
    update=tensor(
        shape=lambda c: [
            *c["past_cache"].shape[:2],
            c.draw.integer(1, c["past_cache"].shape[2]),
            c["past_cache"].shape[3],
        ]
    ),
    write_indices=maybe(
        computed(
            lambda c: c.draw.random.integers(
                0, c["past_cache"].shape[2] - c["update"].shape[2] + 1, c["past_cache"].shape[0]
            ),
            0.3,
        )
    ),
)


def vocabulary(c, name):
    """Ones, then pairs: their numbers in a row."""
    ones, pairs = c.draw.integer(1, 4), c.draw.integer(1, 3)
    c.drawn["ngram_counts drawn"] = [0, ones]
    c.drawn["ngrams"] = ones + pairs
    return [int(x) for x in c.draw.random.permutation(8)[:ones]] + [
        int(x) for k in c.draw.random.permutation(36)[:pairs] for x in divmod(int(k), 6)
    ]


operator(
    "TfIdfVectorizer",
    weight=0.5,
    X=tensor(low=1, high=2, least=0, most=7),
    mode=one_of("TF", "IDF", "TFIDF"),
    pool_int64s=vocabulary,
    ngram_counts=lambda c, name: c["ngram_counts drawn"],
    ngram_indexes=lambda c, name: [int(i) for i in c.draw.random.permutation(c["ngrams"])],
    min_gram_length=lambda c, name: c.draw.integer(1, 2),
    max_gram_length=lambda c, name: 2,
    max_skip_count=one_of(0, 1, 2),
    weights=maybe(lambda c, name: [round(float(x), 2) for x in c.draw.random.uniform(0.1, 2, c["ngrams"])]),
)


def filled(c, name):
    from onnx import numpy_helper

    return numpy_helper.from_array(c.draw.elements(c.draw.dtype(NUMBERS), (1,)))


operator(
    "ConstantOfShape",
    "exact",
    input=computed(lambda c: np.array(c.draw.shape(0, 4), "int64"), 0.9),
    value=maybe(filled, 0.8),
)
