# SPDX-License-Identifier: MIT
"""Corners of operators: policies, lowest numbers, infinities, empty tensors."""
import numpy as np

from cases import case, f, i64, ints
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
    lowest = np.iinfo(dtype).min
    a = np.array([lowest, lowest, lowest, lowest, 7, -7, 0, -7, 7], dtype)
    b = np.array([-1, 1, 0, lowest, 0, 0, 0, -1, -1], dtype)
    zero = b == 0
    whole = np.array([0 if y == 0 else abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(a, b)])
    case("arithmetic", "Div", [a, b], expected=whole.astype(dtype))
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
