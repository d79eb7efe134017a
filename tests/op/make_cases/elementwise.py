# SPDX-License-Identifier: MIT
"""Arithmetic, comparison, casts and activations."""
import numpy as np
from onnx import TensorProto

from cases import DTYPES, bools, case, f, i64, ints

# --- arithmetic
BROADCAST = [((2, 3, 4), (2, 3, 4)), ((2, 3, 4), (4,)), ((2, 3, 1), (1, 5)), ((3,), ()), ((1, 4), (3, 1, 1))]
for op in ["Add", "Sub", "Mul", "Div", "Min", "Max"]:
    for a, b in BROADCAST:
        case("arithmetic", op, [f(*a), f(*b)])
    case("arithmetic", op, [ints(3, 4), ints(4, low=1)])
    case("arithmetic", op, [ints(5, dtype=np.int32), ints(5, low=1, dtype=np.int32)])
    case("arithmetic", op, [f(4).astype(np.float64), f(4).astype(np.float64)])
case("arithmetic", "Div", [ints(20), -ints(20, low=1)])
case("arithmetic", "Pow", [f(3, 4, low=0.1, high=3), f(3, 4)])
case("arithmetic", "Pow", [f(3, 4), np.array(2, np.float32)])
case("arithmetic", "Mod", [ints(20), ints(20, low=1)])
case("arithmetic", "Mod", [ints(20), -ints(20, low=1)])
case("arithmetic", "Mod", [ints(20, dtype=np.int32), -ints(20, low=1, dtype=np.int32)], {"fmod": True})
case("arithmetic", "Mod", [f(20, low=-9, high=9), f(20)], {"fmod": True})
for op in ["Neg", "Abs", "Sign"]:
    case("arithmetic", op, [f(3, 5)])
    case("arithmetic", op, [ints(12)])
    case("arithmetic", op, [ints(12, dtype=np.int32)])
case("arithmetic", "Reciprocal", [f(3, 5)])
for op in ["Floor", "Ceil", "Round"]:
    case("arithmetic", op, [np.array([-2.5, -1.5, -0.5, -0.2, 0, 0.2, 0.5, 1.5, 2.5, 3.7, 1e9], np.float32)])

# --- comparison
for op in ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"]:
    case("comparison", op, [ints(3, 8, low=-2, high=3).astype(np.float32), ints(8, low=-2, high=3).astype(np.float32)])
    case("comparison", op, [ints(3, 8, low=-2, high=3), ints(3, 1, low=-2, high=3)])
    case("comparison", op, [ints(9, low=-2, high=3, dtype=np.int32), ints(9, low=-2, high=3, dtype=np.int32)])
case("comparison", "Equal", [bools(10), bools(10)])
for op in ["And", "Or", "Xor"]:
    case("comparison", op, [bools(3, 4), bools(4)])
case("comparison", "Not", [bools(7)])
for shapes in [((3, 4), (3, 4), (3, 4)), ((3, 1), (4,), (1, 1)), ((4,), (3, 4), ()), ((2, 1, 4), (3, 1), (4,))]:
    case("comparison", "Where", [bools(*shapes[0]), f(*shapes[1]), f(*shapes[2])])
case("comparison", "Where", [bools(6), ints(6), ints(6)])
case("comparison", "Where", [bools(6), ints(6, dtype=np.int32), ints(6, dtype=np.int32)])

# --- cast
ONNX_TYPE = {"F32": TensorProto.FLOAT, "F64": TensorProto.DOUBLE, "I32": TensorProto.INT32, "I64": TensorProto.INT64,
             "BOOL": TensorProto.BOOL, "U8": TensorProto.UINT8, "I8": TensorProto.INT8}
for x in [np.array([-3.7, -0.4, 0, 0.6, 2.5, 100.9], np.float32), i64(-3, 0, 1, 2, 127), bools(8), ints(6, dtype=np.int32),
          f(5).astype(np.float64)]:
    for to in ["F32", "F64", "I32", "I64", "BOOL"]:
        case("cast", "Cast", [x], {"to": DTYPES.index(to)}, {"to": ONNX_TYPE[to]})
case("cast", "Cast", [i64(0, 1, 255, 256, -1, 300)], {"to": DTYPES.index("U8")}, {"to": ONNX_TYPE["U8"]})
case("cast", "Cast", [i64(0, 127, 128, 255, -129)], {"to": DTYPES.index("I8")}, {"to": ONNX_TYPE["I8"]})

# --- transcendental
for op in ["Exp", "Sin", "Cos", "Tanh", "Erf"]:
    case("transcendental", op, [f(4, 8, low=-4, high=4)])
for op in ["Log", "Sqrt"]:
    case("transcendental", op, [f(4, 8, low=0.01, high=9)])
case("transcendental", "Exp", [np.array([-200, -100, 0, 100], np.float32)])

# --- activation
wide = np.linspace(-9, 9, 37, dtype=np.float32).reshape(1, 37)
for op in ["Relu", "LeakyRelu", "Sigmoid", "HardSigmoid", "HardSwish", "Swish", "Gelu", "Elu", "Selu", "Softplus", "Softsign", "Mish"]:
    case("activation", op, [wide])
    case("activation", op, [f(2, 3, 5)])
case("activation", "Relu", [ints(9, dtype=np.int32)])
case("activation", "LeakyRelu", [wide], {"alpha": 0.3})
case("activation", "HardSigmoid", [wide], {"alpha": 0.1, "beta": 0.6})
case("activation", "Swish", [wide], {"alpha": 1.702})
case("activation", "Elu", [wide], {"alpha": 0.5})
case("activation", "Selu", [wide], {"alpha": 1.5, "gamma": 1.1})
case("activation", "Gelu", [wide], {"approximate": 1}, {"approximate": "tanh"})
case("activation", "Softplus", [np.array([-100, -20, 20, 100], np.float32)])
case("activation", "PRelu", [f(2, 3, 4), f(3, 1)])
case("activation", "PRelu", [f(2, 3, 4), f(1)])
for low, high in [(-1, 1), (0, 6), (None, 0.5), (0.5, None), (None, None)]:
    ours = {k: float(v) for k, v in [("min", low), ("max", high)] if v is not None}
    limits = [None if v is None else np.array(v, np.float32) for v in (low, high)]
    case("activation", "Clip", [wide], ours, {}, limits)
