# SPDX-License-Identifier: MIT
"""Trigonometry, bits, thresholds, any number of inputs, ranges."""
import numpy as np

from cases import DTYPES, case, f, i64, ints, node_tests
from elementwise import ONNX_TYPE, wide

# --- trigonometry
for op in ["Tan", "Atan", "Sinh", "Cosh", "Asinh"]:
    case("trigonometry", op, [f(4, 8, low=-1.4, high=1.4)])
for op in ["Asin", "Acos", "Atanh"]:
    case("trigonometry", op, [f(4, 8, low=-0.95, high=0.95)])
case("trigonometry", "Acosh", [f(4, 8, low=1, high=9)])

# --- classification
special = np.array([1, np.nan, np.inf, -np.inf, 0, -2.5], np.float32)
case("classification", "IsNaN", [special])
case("classification", "IsNaN", [special.astype(np.float64)])
for negative in (False, True):
    for positive in (False, True):
        case("classification", "IsInf", [special], {"detect_negative": negative, "detect_positive": positive})

# --- bits
for dtype in [np.uint8, np.uint16, np.uint32, np.uint64]:
    for d, direction in enumerate(["LEFT", "RIGHT"]):
        case("bits", "BitShift", [np.array([16, 4, 255, 1, 2**(8 * np.dtype(dtype).itemsize) - 1], dtype), np.array([1, 2, 3, 0, 7], dtype)],
             {"direction": d}, {"direction": direction})
for op in ["BitwiseAnd", "BitwiseOr", "BitwiseXor"]:
    for dtype in [np.int32, np.uint8, np.uint64, np.int64]:
        case("bits", op, [ints(3, 4, low=0, high=99, dtype=dtype), ints(4, low=0, high=99, dtype=dtype)])
case("bits", "BitwiseNot", [ints(7, dtype=np.int32)])
case("bits", "BitwiseNot", [ints(7, low=0, high=200, dtype=np.uint8)])

# --- threshold
for attributes in [{}, {"alpha": 2.0}]:
    case("threshold", "Celu", [wide], attributes)
    case("threshold", "ThresholdedRelu", [wide], attributes)
for attributes in [{}, {"bias": 1.5, "lambd": 1.5}, {"lambd": 1.5}]:
    case("threshold", "Shrink", [wide], attributes)

# --- variadic
for op in ["Sum", "Mean"]:
    for shapes in [[(3, 4)], [(3, 4), (4,)], [(2, 1), (1, 3), ()], [(2,)] * 5]:
        case("variadic", op, [f(*s) for s in shapes])

# --- range
case("range", "Range", [np.array(2, np.float32), np.array(1.5, np.float32)], {"count": 5}, expected=np.arange(2, 2 + 5 * 1.5, 1.5, dtype=np.float32))
case("range", "Range", [np.array(10, np.int64), np.array(-3, np.int64)], {"count": 4}, expected=i64(10, 7, 4, 1))
case("range", "Range", [np.array(10, np.int32), np.array(-3, np.int32)], {"count": 0}, expected=np.array([], np.int32))
for shape, k in [((3, 4), 0), ((4, 3), 1), ((2, 5), -1)]:
    for to in ["F32", "I64", "BOOL"]:
        case("range", "EyeLike", [f(*shape)], {"to": DTYPES.index(to), "k": k}, {"dtype": ONNX_TYPE[to], "k": k})
node_tests("range", "tri", lambda a, i: ({"upper": a.get("upper", 1), "k": 0 if len(i) < 2 else int(i[1])}, i[:1]))
node_tests("range", "onehot", lambda a, i: ({"axis": a.get("axis", -1), "depth": int(np.squeeze(i[1]))}, [i[0].astype(np.int64), i[2]]))
