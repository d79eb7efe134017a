# SPDX-License-Identifier: MIT
"""Corners of operators: policies, lowest numbers, infinities, empty tensors."""
import numpy as np

from cases import case, f, i64, ints, run_microsoft
from movement import COORDINATES

# --- resize to sizes that keep the ratio, by one scale; ONNX's reference differs from ONNX Runtime in align_corners and
# tf_crop_and_resize, where it takes the sizes before they are rounded
for k, policy in enumerate(["not_larger", "not_smaller"]):
    for m, mode in enumerate(["nearest", "linear", "cubic"]):
        for c, name in enumerate(COORDINATES):
            wanted = [[7, 8], [3, 5], [9, 3]][(k + m + c) % 3]
            scale = (min, max)[k](np.float32(w) / np.float32(n) for w, n in zip(wanted, (4, 6)))
            sizes = [int(np.floor(scale * np.float32(n) + np.float32(0.5))) for n in (4, 6)]
            case("resize", "Resize", [f(1, 2, 4, 6)], {"scales": [1.0, 1.0, float(scale), float(scale)], "sizes": [1, 2, *sizes], "mode": m,
                 "coordinate_transformation_mode": c}, {"mode": mode, "coordinate_transformation_mode": name, "keep_aspect_ratio_policy": policy,
                 "axes": [2, 3]}, [None, None, i64(*wanted)])

# --- lowest numbers and divisors of 0, by which ONNX Runtime ends the process or refuses
for dtype in [np.int8, np.int16, np.int32, np.int64]:
    lowest = int(np.iinfo(dtype).min)
    a = np.array([lowest, lowest, lowest, lowest, 7, -7, 0, -7, 7], dtype)
    b = np.array([-1, 1, 0, lowest, 0, 0, 0, -1, -1], dtype)
    quotient = lambda x, y: 0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    whole = [(quotient(int(x), int(y)) - lowest) % (-2 * lowest) + lowest for x, y in zip(a, b)]
    case("arithmetic", "Div", [a, b], expected=np.array(whole, dtype))
    with np.errstate(divide="ignore"):
        case("arithmetic", "Mod", [a, b], {"fmod": False}, expected=np.mod(a, b))
        case("arithmetic", "Mod", [a, b], {"fmod": True}, expected=np.fmod(a, b))

# --- rows with infinities and NaN; ONNX's reference differs from ONNX Runtime in ReduceLogSumExp of minus infinities only
# (NaN) and in the signs that LpNormalization's p = 1 gives them; ONNX Runtime differs from itself, as from the reference, in
# f64: ReduceMax and ReduceMin of rows with NaN, LogSoftmax of rows with infinity
inf, nan = np.inf, np.nan
rows = np.array([[inf, 1, 2], [inf, inf, 0], [inf, -inf, 0], [-inf, -inf, -inf], [-inf, 1, 2], [nan, 1, inf], [nan, 1, 2], [0, 0, 0]], np.float32)
for x in [rows, rows.astype(np.float64)]:
    single = x.dtype == np.float32
    for name in ["L1", "L2", "LogSum", "LogSumExp", "Mean", "Prod", "Sum", "SumSquare"] + (["Max", "Min"] if single else []):
        case("reduction", f"Reduce{name}", [x], {"axes": [1]}, {}, [i64(1)])
    for op in ["Softmax", "LogSoftmax"] if single else ["Softmax"]:
        case("softmax", op, [x], {"axis": 1})
    for p in (1, 2):
        case("local_normalization", "LpNormalization", [x], {"p": p, "axis": 1})
for op in ["ArgMax", "ArgMin"]:
    case("arg_reduction", op, [rows[:5]], {"axis": 1})

# --- tensors without elements; the mean of none is 0 in ONNX Runtime and NaN in ONNX's reference, as it is here
for shape in [(3, 0), (0, 3)]:
    for dtype in [np.float32, np.int32, np.uint8]:
        for name in ["L1", "Max", "Min", "Prod", "Sum"] + (["L2", "LogSum", "LogSumExp", "SumSquare"] if dtype == np.float32 else []):
            if dtype != np.uint8 or name in ("Max", "Min"):
                case("reduction", f"Reduce{name}", [np.zeros(shape, dtype)], {"axes": [1]}, {}, [i64(1)])
    x = np.zeros(shape, np.float32)
    with np.errstate(invalid="ignore"):
        case("reduction", "ReduceMean", [x], {"axes": [1]}, expected=np.full((shape[0], 1), np.nan, np.float32))
    for op in ["Softmax", "LogSoftmax"]:
        case("softmax", op, [x], {"axis": 1})
    case("top_k", "Hardmax", [x], {"axis": 1})
    case("local_normalization", "LpNormalization", [x], {"axis": 1})
    case("cumulative", "CumSum", [x], {"axis": 1}, {}, [i64(1)])
case("arg_reduction", "ArgMax", [np.zeros((0, 3), np.float32)], {"axis": 1})
for op in ["MaxPool", "AveragePool", "LpPool"]:
    case({"LpPool": "lp_pooling"}.get(op, "pooling"), op, [np.zeros((0, 2, 5, 5), np.float32)], {"kernel_shape": [2, 2]})
for op in ["GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"]:
    case({"GlobalLpPool": "lp_pooling"}.get(op, "pooling"), op, [np.zeros((0, 2, 5, 5), np.float32)])

# --- numbers so large that what they count must be told from what contributes
huge = 2**62
x = f(1, 5, 2, 2)
case("local_normalization", "LRN", [x], {"size": 31, "alpha": 0.3, "beta": 0.6, "bias": 1.5})
case("local_normalization", "LRN", [x], {"size": huge, "alpha": 0.3, "beta": 0.6, "bias": 1.5}, expected=(x / 1.5**0.6).astype(np.float32))
window = {"kernel_shape": [2**30], "pads": [2**29, 2**29 - 4]}
x = f(1, 2, 5)
case("pooling", "MaxPool", [x], window, expected=np.repeat(x.max(-1, keepdims=True), 2, -1))
case("pooling", "AveragePool", [x], window, expected=np.repeat(x.mean(-1, keepdims=True), 2, -1))
case("lp_pooling", "LpPool", [x], {**window, "p": 1}, expected=np.repeat(np.abs(x).sum(-1, keepdims=True), 2, -1))
image = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
for m, mode in enumerate(["avg", "max"]):
    common = {"output_height": 2, "output_width": 2, "sampling_ratio": 0}
    rois = np.array([[0, 0, 4096, 2048], [-4096, -2048, 4096, 2048]], np.float32)  # whose samples are no rounded numbers
    for c, name in enumerate(["half_pixel", "output_half_pixel"]):
        case("roi_align", "RoiAlign", [image, rois, i64(0, 0)], {"coordinate_transformation_mode": c, "mode": m, **common},
             {"coordinate_transformation_mode": name, "mode": mode, **common})
    case("roi_align", "RoiAlign", [image, np.array([[0, 0, 1e9, 1e9]], np.float32), i64(0)], {"mode": m, **common},
         expected=np.array([[[[16 * m, 0], [0, 0]]]], np.float32))
    for worst in [np.nan, np.inf, 1e30]:
        case("roi_align", "RoiAlign", [image, np.array([[worst, 0, worst, 1], [0, -worst, 1, worst]], np.float32), i64(0, 0)],
             {"mode": m, **common}, expected=np.zeros((2, 1, 2, 2), np.float32))

# --- places that are no numbers, or far outside
places = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 1e9], np.float32)
grid = np.zeros((1, 1, 6, 2), np.float32)
grid[0, 0, :, 0] = places
for p, row in enumerate([[3.5, 0, 0, 0, 0, 0], [7, 10, 7, 10, 7, 10]]):
    case("grid_sample", "GridSample", [image, grid], {"mode": 0, "padding_mode": p}, expected=np.array(row, np.float32).reshape(1, 1, 1, 6))
for p, row in enumerate([[9, 0, 0, 0, 0, 0], [9, 12, 9, 12, 9, 12]]):
    case("grid_sample", "GridSample", [image, grid], {"mode": 1, "padding_mode": p}, expected=np.array(row, np.float32).reshape(1, 1, 1, 6))
case("grid_sample", "GridSample", [image, grid[:, :, :3]], {"mode": 0, "padding_mode": 2}, expected=np.full((1, 1, 1, 3), 7, np.float32))
offset = np.zeros((1, 2, 3, 3), np.float32)
offset[0, 0, 0] = places[:3]
offset[0, 1, 1] = places[3:]
case("deformable_convolution", "DeformConv", [np.full((1, 1, 3, 3), 2, np.float32), np.ones((1, 1, 1, 1), np.float32), offset], {"kernel_shape": [1, 1]},
     expected=np.array([0, 0, 0, 0, 0, 0, 2, 2, 2], np.float32).reshape(1, 1, 3, 3))

# --- negative pads and empty tensors, in every mode; ONNX's reference refuses negative pads
x = f(3, 4)
MODES = ["constant", "reflect", "edge", "wrap"]
for m, mode in enumerate(MODES):
    for pads in [[-1, 0, 0, 0], [0, -1, 1, 2], [1, 2, -1, -1], [-1, -1, -1, -1], [0, -3, 0, 0]]:
        case("pad", "Pad", [x], {"pads": pads, "mode": m}, {"mode": mode}, [i64(*pads)])
    for pads in [[-2, -3, 3, 4], [-1, 0, 2, 0]] if mode != "reflect" else []:
        case("pad", "Pad", [x], {"pads": pads, "mode": m}, {"mode": mode}, [i64(*pads)])
    for shape, pads in [((0, 4), [0, 1, 0, 1]), ((3, 0), [1, 0, 1, 0])]:  # which ONNX Runtime refuses in mode wrap
        case("pad", "Pad", [np.zeros(shape, np.float32)], {"pads": pads, "mode": m}, {"mode": mode}, [i64(*pads)])

# --- Einsum with axes of 1 that broadcast
for equation, shapes in [("ij,jk->ik", [(2, 1), (3, 4)]), ("ij,jk->ik", [(2, 3), (1, 4)]), ("ij,ij->ij", [(2, 1), (2, 3)]), ("bij,bjk->bik", [(1, 2, 3), (4, 3, 2)]),
                         ("bij,bjk->bik", [(4, 2, 1), (4, 3, 2)]), ("ij,ij->", [(1, 3), (2, 3)]), ("i,i->i", [(1,), (3,)]), ("ij,j->i", [(2, 3), (1,)]),
                         ("ij,jk,kl->il", [(2, 1), (3, 1), (4, 2)]), ("i,ij->j", [(1,), (3, 2)])]:
    case("einsum", "Einsum", [f(*s) for s in shapes], {"equation": [ord(c) for c in equation]}, {"equation": equation})

# --- pooling: windows larger than the padded input, which ceil_mode lets begin inside it
for shape, attributes in [((1, 1, 3), {"kernel_shape": [5], "strides": [3]}), ((2, 2, 3, 5), {"kernel_shape": [5, 3], "strides": [4, 2], "pads": [1, 0, 0, 1]}),
                          ((1, 2, 1, 4), {"kernel_shape": [2, 2], "strides": [2, 2]})]:
    case("pooling", "MaxPool", [f(*shape)], {**attributes, "ceil_mode": True})
    case("pooling", "AveragePool", [f(*shape)], {**attributes, "ceil_mode": True})

# --- inverses: rows that must change places, a matrix whose pivots differ by orders of magnitude, one without elements
for x in [f(3, 3), f(2, 3, 4, 4), f(1, 1) + 2, f(5, 2, 2).astype(np.float64), np.array([[0, 2, 1], [1, 0, 0], [3, 1, 0]], np.float32),
          np.array([[1e-6, 1], [1, 1]], np.float32), np.zeros((0, 2, 2), np.float32)]:
    case("determinant", "Inverse", [x], expected=run_microsoft("Inverse", x))

# --- more of the best than are found in one turn over a row
for x in [ints(200, 2, low=-20, high=21).astype(np.float32), f(200, 2)]:
    for largest in (True, False):
        for output in (0, 1):
            case("top_k", "TopK", [x], {"k": 150, "axis": 0, "largest": largest, "output": output}, {"axis": 0, "largest": int(largest)},
                 [i64(150)], output=output, outputs=2)
