# SPDX-License-Identifier: MIT
"""Products, convolutions, pooling, reductions and normalisations."""
import numpy as np

from cases import case, f, i64, ints

# --- matmul
for a, b in [((3, 4), (4, 5)), ((2, 3, 4), (4, 2)), ((2, 1, 3, 4), (5, 4, 2)), ((4,), (4, 3)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (2, 4, 1)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,))]:
    case("matmul", "MatMul", [f(*a), f(*b)])
for ta in (False, True):
    for tb in (False, True):
        case("matmul", "Gemm", [f(*((4, 3) if ta else (3, 4))), f(*((5, 4) if tb else (4, 5))), f(5)], {"trans_a": ta, "trans_b": tb},
             {"transA": int(ta), "transB": int(tb)})
for c in [None, f(3, 5), f(3, 1), f(1), f()]:
    case("matmul", "Gemm", [f(3, 4), f(4, 5)] + ([] if c is None else [c]), {"alpha": 0.5, "beta": 2.0})

# --- convolution
for x, w, attributes in [
        ((1, 2, 5, 6), (3, 2, 3, 3), {}), ((2, 2, 5, 5), (3, 2, 3, 3), {"pads": [1, 1, 1, 1]}),
        ((1, 2, 7, 6), (2, 2, 3, 2), {"strides": [2, 3], "pads": [0, 1, 2, 0]}),
        ((1, 1, 8, 8), (2, 1, 3, 3), {"dilations": [2, 3], "pads": [2, 2, 2, 2]}),
        ((1, 4, 5, 5), (4, 1, 3, 3), {"group": 4, "pads": [1, 1, 1, 1]}), ((1, 4, 4, 4), (6, 2, 3, 3), {"group": 2}),
        ((1, 3, 4, 4), (4, 3, 1, 1), {}), ((1, 3, 5, 5), (4, 3, 1, 1), {"strides": [2, 2]}), ((1, 2, 9), (3, 2, 3), {"pads": [1, 1], "strides": [2]}),
        ((1, 2, 4, 3, 4), (2, 2, 2, 3, 2), {"pads": [0, 1, 1, 1, 1, 0]}), ((1, 1, 7, 7), (1, 1, 7, 7), {"pads": [3, 3, 3, 3], "strides": [2, 2]}),
        ((1, 4, 6), (4, 2, 3), {"group": 2, "dilations": [2]})]:
    for bias in (False, True):
        case("convolution", "Conv", [f(*x), f(*w)] + ([f(w[0])] if bias else []), {**attributes, "kernel_shape": list(w[2:])} if bias else attributes)

# --- transposed_convolution
for x, w, attributes in [
        ((1, 2, 3, 4), (2, 3, 3, 3), {}), ((1, 2, 3, 3), (2, 2, 2, 2), {"strides": [2, 2]}),
        ((2, 2, 3, 3), (2, 1, 3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}),
        ((1, 2, 4, 3), (2, 2, 3, 2), {"strides": [3, 1], "pads": [0, 1, 2, 0]}), ((1, 4, 3, 3), (4, 2, 3, 3), {"group": 2, "strides": [2, 2]}),
        ((1, 3, 3, 3), (3, 1, 2, 2), {"group": 3}), ((1, 1, 4, 4), (1, 2, 3, 3), {"dilations": [2, 2]}), ((1, 2, 5), (2, 3, 4), {"strides": [2], "pads": [1, 1]}),
        ((1, 1, 2, 2, 3), (1, 2, 2, 2, 2), {"strides": [2, 1, 2]}), ((1, 1, 3, 3), (1, 1, 3, 3), {"strides": [2, 3], "dilations": [3, 1], "output_padding": [1, 2]})]:
    for bias in (False, True):
        channels = w[1] * attributes.get("group", 1)
        case("transposed_convolution", "ConvTranspose", [f(*x), f(*w)] + ([f(channels)] if bias else []), attributes)

# --- pooling
for attributes in [{"kernel_shape": [2, 2]}, {"kernel_shape": [2, 2], "strides": [2, 2]}, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]},
                   {"kernel_shape": [3, 2], "strides": [2, 3], "pads": [1, 0, 0, 1]}, {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": True},
                   {"kernel_shape": [2, 2], "strides": [3, 3], "pads": [1, 1, 1, 1], "ceil_mode": True}, {"kernel_shape": [2, 3], "dilations": [2, 1]},
                   {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [0, 0, 1, 1], "ceil_mode": True}]:
    case("pooling", "MaxPool", [f(1, 2, 6, 7)], attributes)
    for include in (False, True):
        case("pooling", "AveragePool", [f(1, 2, 6, 7)], {**attributes, "count_include_pad": include})
case("pooling", "MaxPool", [f(2, 1, 9)], {"kernel_shape": [3], "strides": [2], "pads": [1, 1]})
case("pooling", "MaxPool", [f(1, 1, 4, 4, 4)], {"kernel_shape": [2, 2, 2], "strides": [2, 2, 2]})
case("pooling", "AveragePool", [f(1, 1, 4, 3, 4)], {"kernel_shape": [2, 2, 2], "pads": [0, 1, 0, 0, 1, 0]})
for op in ["GlobalAveragePool", "GlobalMaxPool"]:
    for shape in [(2, 3, 4, 5), (1, 2, 7), (1, 2, 2, 3, 2)]:
        case("pooling", op, [f(*shape)])

# --- reduction
REDUCTIONS = ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"]
for r in REDUCTIONS:
    x = f(2, 3, 4, low=0.1, high=2) if r == "LogSum" else f(2, 3, 4)
    for axes, keep in [([], True), ([], False), ([1], True), ([0, 2], False), ([-1], False), ([-1, -2], True)]:
        case("reduction", "Reduce" + r, [x], {"axes": axes, "keepdims": keep}, {"keepdims": int(keep)}, [i64(*axes)] if axes else [])
for r in ["Sum", "Max", "Min", "Prod", "Mean"]:
    case("reduction", "Reduce" + r, [ints(3, 4, low=1, dtype=np.int32)], {"axes": [1]}, {}, [i64(1)])
for r in ["Sum", "Max", "Min"]:
    case("reduction", "Reduce" + r, [ints(3, 4)], {"axes": [0]}, {}, [i64(0)])
case("reduction", "ReduceLogSumExp", [np.array([[100, 101], [-200, -201]], np.float32)], {"axes": [1]}, {}, [i64(1)])

# --- arg_reduction
for op in ["ArgMax", "ArgMin"]:
    for axis, keep, last in [(0, True, False), (1, False, False), (-1, True, True), (2, False, True)]:
        case("arg_reduction", op, [ints(3, 4, 6, low=-2, high=3).astype(np.float32)], {"axis": axis, "keepdims": keep, "select_last_index": last})
    case("arg_reduction", op, [ints(5, 4, low=0, high=3, dtype=np.int32)], {"axis": 1})

# --- softmax
for op in ["Softmax", "LogSoftmax"]:
    for axis in [-1, 0, 1]:
        case("softmax", op, [f(3, 4, 5)], {"axis": axis})
    case("softmax", op, [np.array([[1000, 1001], [-1000, -999]], np.float32)])
    case("softmax", op, [f(7)])

# --- normalization
for axis in [-1, 1, 2, -3]:
    x = f(2, 3, 4)
    inner = x.shape[axis:]
    case("normalization", "LayerNormalization", [x, f(*inner), f(*inner)], {"axis": axis, "epsilon": 1e-3})
    case("normalization", "RMSNormalization", [x, f(*inner)], {"axis": axis, "epsilon": 1e-3})
case("normalization", "LayerNormalization", [f(2, 5), f(5)])
for shape in [(2, 3, 4, 5), (1, 2, 7), (2, 2, 2, 3, 2)]:
    c = shape[1]
    case("normalization", "InstanceNormalization", [f(*shape), f(c), f(c)], {"epsilon": 1e-4})
    case("normalization", "BatchNormalization", [f(*shape), f(c), f(c), f(c), f(c, low=0.2, high=2)], {"epsilon": 1e-4})
case("normalization", "BatchNormalization", [f(4, 3), f(3), f(3), f(3), f(3, low=0.2, high=2)])
for shape, groups in [((2, 6, 3, 2), 3), ((1, 4, 5), 2), ((2, 4, 2, 2), 1), ((1, 4, 3, 3), 4)]:
    case("normalization", "GroupNormalization", [f(*shape), f(shape[1]), f(shape[1])], {"num_groups": groups, "epsilon": 1e-4})
for axes in [[-1], [0, 2], []]:
    x = f(3, 4, 5)
    over = tuple(axes) or None
    wide_x = x.astype(np.float64)
    mean = wide_x.mean(axis=over, keepdims=True)
    case("normalization", "Standardize", [x], {"axes": axes, "epsilon": 0.01},
         expected=((wide_x - mean) / np.sqrt(wide_x.var(axis=over, keepdims=True) + 0.01)).astype(np.float32))
    case("normalization", "RootMeanSquare", [x], {"axes": axes, "epsilon": 0.01},
         expected=(wide_x / np.sqrt((wide_x**2).mean(axis=over, keepdims=True) + 0.01)).astype(np.float32))
