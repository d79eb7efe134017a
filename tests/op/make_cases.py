# SPDX-License-Identifier: MIT
"""Writes tests/op/cases/*.safetensors: inputs, attributes and outputs of single operators, computed by ONNX Runtime.

Needs `pip install numpy onnx onnxruntime` and ONNX's own node tests (Debian: libonnx-testdata), and is needed only when
cases change: the files are kept in the repository. Arguments: the families to write; none: all.
Where ONNX Runtime lacks an operator, onnx.reference computes it; where ONNX has no such operator, numpy does.

A case `name` is the tensors name/0, name/1, ... (inputs, a left-out one missing) and name/y (output), and a metadata entry
name -> "Operator attribute=value value;attribute=value": the operator and its attributes as dnnkit spells them, numbers only.
"""
import json
import pathlib
import struct
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

FOLDER = pathlib.Path(__file__).parent / "cases"
NODE_TESTS = pathlib.Path("/usr/lib/python3/dist-packages/onnx/backend/test/data/node")
DTYPES = ["F32", "F64", "F16", "BF16", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64", "BOOL"]  # core/dtype.hpp
STORED = {"float32": "F32", "float64": "F64", "float16": "F16", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64",
          "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64", "bool": "BOOL"}
random = np.random.default_rng(20240517)
files = {}
engines = {"onnxruntime": 0, "onnx.reference": 0, "numpy": 0}
onnxruntime.set_default_logger_severity(4)


def f(*shape, low=None, high=None):
    """Random float32 numbers, normally distributed or uniform in [low, high)."""
    if low is None:
        return random.standard_normal(shape).astype(np.float32)
    return random.uniform(low, high, shape).astype(np.float32)


def ints(*shape, low=-9, high=10, dtype=np.int64):
    return random.integers(low, high, shape).astype(dtype)


def bools(*shape):
    return random.integers(0, 2, shape).astype(np.bool_)


def run_onnx(op, inputs, attributes, output, count):
    """Output number `output` of the `count` of one node; inputs may be None."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    given = {n: x for n, x in zip(names, inputs) if n}
    for opset in [21, 23, 24]:
        node = helper.make_node(op, names, [f"y{i}" for i in range(count)], **attributes)
        infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in given.items()]
        outs = [helper.make_empty_tensor_value_info(f"y{i}") for i in range(count)]
        graph = helper.make_graph([node], "g", infos, outs)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
        try:
            model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
            session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
            result = session.run([f"y{output}"], given)[0]
            engines["onnxruntime"] += 1
            return result
        except Exception as problem:  # not in this opset, or not implemented for these types
            last = problem
    for opset in [21, 23, 24]:
        try:
            node = helper.make_node(op, names, [f"y{i}" for i in range(count)], **attributes)
            model = helper.make_model(helper.make_graph([node], "g", infos, outs),
                                      opset_imports=[helper.make_opsetid("", opset)])
            result = ReferenceEvaluator(model).run(None, given)[output]
            engines["onnx.reference"] += 1
            print("onnx.reference:", op, attributes, [None if x is None else (x.dtype, x.shape) for x in inputs])
            return np.asarray(result)
        except Exception as problem:
            last = (last, problem)
    raise RuntimeError(f"{op} {attributes}: {last}")


def number(x):
    return str(int(x)) if isinstance(x, (bool, np.bool_)) else repr(float(x)) if isinstance(x, float) else str(int(x))


def spell(attributes):
    return ";".join(f"{k}=" + " ".join(map(number, v if isinstance(v, (list, tuple)) else [v])) for k, v in attributes.items())


def case(family, op, inputs, ours=None, onnx_attributes=None, onnx_inputs=None, output=0, outputs=1, expected=None):
    """One case. `ours` are dnnkit's attributes; ONNX's are the same unless given, with `onnx_inputs` behind the inputs."""
    ours = ours or {}
    if expected is None:
        attributes = {k: int(v) if isinstance(v, bool) else v for k, v in (ours if onnx_attributes is None else onnx_attributes).items()}
        expected = run_onnx(op, list(inputs) + list(onnx_inputs or []), attributes, output, outputs)
    else:
        engines["numpy"] += 1
    tensors, metadata = files.setdefault(family, ({}, {}))
    name = f"{op}_{sum(k.startswith(op + '_') for k in metadata)}"
    metadata[name] = f"{op} {spell(ours)}".strip()
    for i, x in enumerate(inputs):
        if x is not None:
            tensors[f"{name}/{i}"] = x
    tensors[f"{name}/y"] = np.asarray(expected)


def i64(*values):
    return np.array(values, dtype=np.int64)


def node_test(family, name, convert, output=0):
    """ONNX's own test `name` of one node as a case. convert(attributes, inputs) gives dnnkit's attributes, and its inputs if
    they are others; `attributes` are the node's with those it leaves out missing, `inputs` those of the test, None for one
    left out."""
    model = onnx.load(NODE_TESTS / name / "model.onnx")
    assert len(model.graph.node) == 1, name
    node = model.graph.node[0]
    data = NODE_TESTS / name / "test_data_set_0"

    def tensor(kind, number):
        t = TensorProto()
        t.ParseFromString((data / f"{kind}_{number}.pb").read_bytes())
        return numpy_helper.to_array(t)

    given = {x.name: tensor("input", i) for i, x in enumerate(model.graph.input)}
    expected = tensor("output", [x.name for x in model.graph.output].index(node.output[output]))
    inputs = [given.get(x) for x in node.input]
    converted = convert({a.name: helper.get_attribute_value(a) for a in node.attribute}, inputs)
    ours, used = converted if isinstance(converted, tuple) else (converted, inputs)
    tensors, metadata = files.setdefault(family, ({}, {}))
    case = f"{node.op_type}_{name.removeprefix('test_')}" + (f"_{output}" if output else "")
    ours = {k: v for k, v in ours.items() if v is not None}
    metadata[case] = f"{ours.pop('operator', node.op_type)} {spell(ours)}".strip()
    for i, x in enumerate(used):
        if x is not None:
            tensors[f"{case}/{i}"] = x
    tensors[f"{case}/y"] = expected


def node_tests(family, prefix, convert, output=0, but=()):
    """All of ONNX's tests whose names begin with test_`prefix` and that are one node, without those expanded to others."""
    for path in sorted(NODE_TESTS.glob(f"test_{prefix}*")):
        if not path.name.endswith("_expanded") and path.name.removeprefix("test_") not in but:
            node_test(family, path.name, convert, output)


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

# --- movement
x = f(2, 3, 4)
for shape in [[6, 4], [24], [-1, 2], [0, -1], [2, 3, 2, 2], [0, 0, 4], [1, 2, 3, 4, 1]]:
    case("movement", "Reshape", [x], {"shape": shape}, {}, [i64(*shape)])
for axis in [0, 1, 2, 3, -1, -3]:
    case("movement", "Flatten", [x], {"axis": axis})
for axes in [[], [0], [2], [-1], [0, 2, 4]]:
    case("movement", "Squeeze", [f(1, 3, 1, 2, 1)], {"axes": axes}, {}, [i64(*axes)] if axes else [])
for axes in [[0], [1], [-1], [0, 4], [1, 2], [-1, -3]]:
    case("movement", "Unsqueeze", [x], {"axes": axes}, {}, [i64(*axes)])
for perm in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0], [2, 0, 1]]:
    case("movement", "Transpose", [x], {"perm": perm})
case("movement", "Transpose", [x], {})
case("movement", "Transpose", [f(2, 3, 2, 2, 3)], {"perm": [0, 3, 1, 4, 2]})
case("movement", "Transpose", [ints(2, 3)], {"perm": [1, 0]})
case("movement", "Identity", [x])
case("movement", "Identity", [bools(4)])

# --- block_rearrangement
for block in [1, 2, 3]:
    for mode, name in enumerate(["DCR", "CRD"]):
        case("block_rearrangement", "DepthToSpace", [f(2, 2 * block * block, 2, 3)], {"blocksize": block, "mode": mode},
             {"blocksize": block, "mode": name})
    case("block_rearrangement", "SpaceToDepth", [f(2, 2, 2 * block, 3 * block)], {"blocksize": block})

# --- slice
far = 2**63 - 1
for starts, ends, axes, steps in [
        ([1], [3], [1], [1]), ([0, 1], [2, 3], None, None), ([1], [far], [2], None), ([-3], [-1], [2], None),
        ([-100], [100], [0], None), ([0, 1], [far, far], [1, 2], [2, 3]), ([3], [1], [2], None), ([-1], [-far], [2], [-1]),
        ([3, 1], [0, -far], [2, 1], [-2, -1]), ([100], [-100], [0], [-1]), ([2], [far], [-1], [2]), ([1], [-1], [0], [1]),
        ([-far - 1], [far], [2], [3])]:
    ours = {"starts": starts, "ends": ends}
    more = [i64(*starts), i64(*ends)]
    if axes is not None:
        ours["axes"], more = axes, more + [i64(*axes)]
    elif steps is not None:
        more.append(None)
    if steps is not None:
        ours["steps"], more = steps, more + [i64(*steps)]
    case("slice", "Slice", [f(3, 4, 5)], ours, {}, more)
for axis, sizes in [(1, [1, 3, 2]), (0, [1, 1]), (-1, [4, 1])]:
    x = f(2, 6, 5)
    for k in range(len(sizes)):
        case("slice", "Split", [x], {"axis": axis, "begin": sum(sizes[:k]), "size": sizes[k]}, {"axis": axis}, [i64(*sizes)], output=k, outputs=len(sizes))

# --- expand
for shape, to in [((3, 1), (2, 3, 4)), ((1,), (5,)), ((), (2, 2)), ((2, 3), (1, 3)), ((2, 1, 3), (4, 1)), ((4,), (1,))]:
    case("expand", "Expand", [f(*shape)], {"shape": list(to)}, {}, [i64(*to)])
for shape, repeats in [((2, 3), [2, 2]), ((2, 3), [1, 3]), ((1, 2, 2), [3, 1, 2]), ((4,), [3]), ((2, 2), [1, 1])]:
    case("expand", "Tile", [f(*shape)], {"repeats": repeats}, {}, [i64(*repeats)])
case("expand", "Tile", [ints(2, 2)], {"repeats": [2, 1]}, {}, [i64(2, 1)])

# --- concat
for axis, shapes in [(0, [(2, 3), (1, 3)]), (1, [(2, 3), (2, 1), (2, 4)]), (-1, [(2, 2, 1), (2, 2, 3)]), (2, [(1, 1, 2)] * 5), (0, [(3,)])]:
    case("concat", "Concat", [f(*s) for s in shapes], {"axis": axis})
case("concat", "Concat", [ints(2), ints(3)], {"axis": 0})
case("concat", "Concat", [bools(2), bools(1), bools(2)], {"axis": 0})

# --- pad
for mode, name in enumerate(["constant", "reflect", "edge"]):
    for pads in [[0, 0, 1, 2, 0, 0, 2, 1], [0, 1, 0, 0, 0, 1, 0, 0], [0, 0, 0, 3, 0, 0, 3, 0], [0] * 8]:
        case("pad", "Pad", [f(1, 2, 4, 5)], {"pads": pads, "mode": mode}, {"mode": name}, [i64(*pads)])
case("pad", "Pad", [f(3, 4)], {"pads": [1, 1, 0, 2], "value": 2.5}, {}, [i64(1, 1, 0, 2), np.array(2.5, np.float32)])
case("pad", "Pad", [f(4, 5)], {"pads": [-1, 1, 0, -2]}, {}, [i64(-1, 1, 0, -2)])
case("pad", "Pad", [ints(3)], {"pads": [1, 2], "value": 7.0}, {}, [i64(1, 2), i64(7).reshape(())])
x = f(2, 3)
case("pad", "Pad", [x], {"pads": [0, 5, 0, 7], "mode": 1}, expected=np.pad(x, [(0, 0), (5, 7)], mode="reflect"))

# --- gather
for axis in [0, 1, -1]:
    case("gather", "Gather", [f(3, 4, 3), ints(2, 2, low=-3, high=3)], {"axis": axis})
case("gather", "Gather", [f(3, 4), np.array(2, np.int64)], {"axis": 1})
case("gather", "Gather", [f(6, 4), ints(5, low=0, high=6, dtype=np.int32)])
case("gather", "Gather", [ints(6), ints(3, low=0, high=6)])
case("gather", "Gather", [bools(6), ints(3, low=0, high=6)])

# --- resize
COORDINATES = ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"]
NEAREST = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
empty = np.array([], np.float32)
for scales in [[1, 1, 2, 2], [1, 1, 2, 3], [1, 1, 0.5, 0.5], [1, 1, 1.5, 0.75], [1, 1, 0.6, 2.4]]:
    for c, name in enumerate(COORDINATES):
        common = {"scales": [float(s) for s in scales], "coordinate_transformation_mode": c}
        for n, rounding in enumerate(NEAREST):
            if n in (0, c) or scales[2] == 1.5:
                case("resize", "Resize", [f(1, 1, 4, 5)], {**common, "nearest_mode": n},
                     {"coordinate_transformation_mode": name, "nearest_mode": rounding}, [None, np.array(scales, np.float32)])
        case("resize", "Resize", [f(1, 2, 4, 5)], {**common, "mode": 1}, {"coordinate_transformation_mode": name, "mode": "linear"},
             [None, np.array(scales, np.float32)])
for sizes in [[1, 2, 7, 3], [1, 2, 1, 9], [1, 2, 4, 4]]:
    for c, name in enumerate(COORDINATES):
        for mode, mode_name in enumerate(["nearest", "linear"]):
            case("resize", "Resize", [f(1, 2, 4, 4)], {"sizes": sizes, "coordinate_transformation_mode": c, "mode": mode},
                 {"coordinate_transformation_mode": name, "mode": mode_name}, [None, None, i64(*sizes)])
case("resize", "Resize", [f(1, 1, 6)], {"scales": [1.0, 1.0, 2.0], "mode": 1}, {"mode": "linear"}, [None, np.array([1, 1, 2], np.float32)])
case("resize", "Resize", [f(1, 1, 2, 3, 2)], {"scales": [1.0, 1.0, 2.0, 2.0, 1.5], "mode": 1}, {"mode": "linear"},
     [None, np.array([1, 1, 2, 2, 1.5], np.float32)])

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
def pads(*p):
    return list(p)

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

# --- gather_elements
node_tests("gather_elements", "gather_elements", lambda a, i: {"axis": a.get("axis", 0)})
node_tests("gather_elements", "gathernd", lambda a, i: {"batch_dims": a.get("batch_dims", 0)})
node_tests("gather_elements", "reversesequence", lambda a, i: {"time_axis": a.get("time_axis", 0), "batch_axis": a.get("batch_axis", 1)})
for axis in [0, 1, -1]:
    case("gather_elements", "GatherElements", [f(3, 4, 3), ints(2, 3, 3, low=-3, high=3)], {"axis": axis})
case("gather_elements", "GatherElements", [bools(3, 4), ints(3, 2, low=0, high=4)], {"axis": 1})
case("gather_elements", "GatherND", [f(3, 4, 5), ints(2, 3, 2, low=-3, high=3)])
case("gather_elements", "GatherND", [f(2, 3, 4, 5), ints(2, 3, 1, low=0, high=3)], {"batch_dims": 1})
case("gather_elements", "GatherND", [ints(4), ints(3, 1, low=0, high=4)])

# --- scatter
REDUCTION = ["none", "add", "mul", "max", "min"]
node_tests("scatter", "scatter_elements", lambda a, i: {"axis": a.get("axis", 0), "reduction": REDUCTION.index(a.get("reduction", b"none").decode())})
node_tests("scatter", "scatternd", lambda a, i: {"reduction": REDUCTION.index(a.get("reduction", b"none").decode())})
for r, reduction in enumerate(REDUCTION):
    where = np.argsort(random.random((3, 4)), axis=1)[:, :2] if r == 0 else ints(3, 2, low=-4, high=4)
    case("scatter", "ScatterElements", [f(3, 4), where, f(3, 2)], {"axis": 1, "reduction": r}, {"axis": 1, "reduction": reduction})
    case("scatter", "ScatterND", [f(4, 3), i64(1, 3).reshape(2, 1) if r == 0 else i64(1, 1, -1).reshape(3, 1), f(2 if r == 0 else 3, 3)],
         {"reduction": r}, {"reduction": reduction})
case("scatter", "ScatterElements", [ints(5), i64(1, 3), ints(2)])
case("scatter", "ScatterND", [f(4, 3, 2), i64(1, 2, 3, 0).reshape(2, 2), f(2, 2)])

# --- cumulative
for axis in [0, 1, -1]:
    for exclusive in (False, True):
        for reverse in (False, True):
            case("cumulative", "CumSum", [f(3, 4, 2)], {"axis": axis, "exclusive": exclusive, "reverse": reverse},
                 {"exclusive": int(exclusive), "reverse": int(reverse)}, [np.array(axis, np.int64)])
case("cumulative", "CumSum", [ints(9)], {"axis": 0}, {}, [np.array(0, np.int64)])
case("cumulative", "CumSum", [ints(9, dtype=np.int32)], {"axis": 0}, {}, [np.array(0, np.int64)])

# --- top_k
for x in [f(3, 5, 4), ints(4, 6, low=-2, high=3), ints(3, 4, low=-2, high=3, dtype=np.int32)]:
    for axis, k, largest in [(-1, 2, True), (0, 3, True), (1, 1, False), (-1, 4, False)]:
        for output in (0, 1):
            case("top_k", "TopK", [x], {"k": k, "axis": axis, "largest": largest, "output": output}, {"axis": axis, "largest": int(largest)},
                 [i64(k)], output=output, outputs=2)
for axis in [0, 1, -1]:
    case("top_k", "Hardmax", [ints(3, 4, 5, low=-2, high=3).astype(np.float32)], {"axis": axis})

# --- selection
node_tests("selection", "compress", lambda a, i: {"axis": a.get("axis"), "flatten": "axis" not in a})
node_tests("selection", "nonzero", lambda a, i: {})
case("selection", "NonZero", [ints(3, 4, 2, low=-1, high=2).astype(np.float32)])
case("selection", "NonZero", [ints(7, low=-1, high=2)])
for output in range(4):
    node_tests("selection", "unique", lambda a, i: {"axis": a.get("axis"), "flatten": "axis" not in a, "sorted": a.get("sorted", 1), "output": output},
               output)

# --- box_selection
node_tests("box_selection", "nonmaxsuppression", lambda a, i: ({"center_point_box": a.get("center_point_box"), "max_output_boxes_per_class": int(i[2][0]),
           "iou_threshold": float(i[3][0]), "score_threshold": float(i[4][0])}, i[:2]))

# --- quantization
node_tests("quantization", "quantizelinear", lambda a, i: {"axis": a.get("axis", 1)})
node_tests("quantization", "dequantizelinear", lambda a, i: {"axis": a.get("axis", 1)})
for output in range(3):
    node_tests("quantization", "dynamicquantizelinear", lambda a, i: {"output": output}, output)
node_tests("quantization", "matmulinteger", lambda a, i: {})
node_tests("quantization", "qlinearmatmul", lambda a, i: {})
node_tests("quantization", "basic_convinteger", lambda a, i: {k: v for k, v in a.items()})
node_tests("quantization", "convinteger", lambda a, i: {k: v for k, v in a.items()})
node_tests("quantization", "qlinearconv", lambda a, i: {k: v for k, v in a.items()})
u8 = lambda *shape: ints(*shape, low=0, high=256, dtype=np.uint8)
i8 = lambda *shape: ints(*shape, low=-128, high=128, dtype=np.int8)
scale = lambda *shape: f(*shape, low=0.01, high=0.1)
case("quantization", "QuantizeLinear", [f(3, 40) * 5, scale(3), i8(3)], {"axis": 0})
case("quantization", "QuantizeLinear", [f(3, 40), scale()])
case("quantization", "DequantizeLinear", [i8(3, 4, 2), scale(4), i8(4)], {"axis": 1})
case("quantization", "DequantizeLinear", [ints(3, 4, dtype=np.int32), scale()])
case("quantization", "MatMulInteger", [u8(3, 7), i8(7, 4), u8(), i8(4)])
case("quantization", "MatMulInteger", [u8(2, 3, 7), u8(7, 4)])
case("quantization", "ConvInteger", [u8(1, 2, 6, 5), u8(3, 2, 3, 3), u8()], {"pads": [1, 1, 0, 2], "strides": [2, 1]})
case("quantization", "ConvInteger", [u8(1, 4, 6, 5), u8(2, 2, 3, 3), u8(), u8()], {"group": 2, "dilations": [2, 1]})
for w, zero in [(i8, np.zeros(3, np.int8)), (u8, np.array(117, np.uint8))]:
    scales = scale(3) if zero.shape else scale()
    case("quantization", "QLinearConv", [u8(1, 2, 6, 5), scale(), u8(), w(3, 2, 3, 3), scales, zero, np.array(0.9, np.float32), u8(), ints(3, low=-900, high=900, dtype=np.int32)],
         {"pads": [1, 1, 1, 1]})
case("quantization", "QLinearMatMul", [u8(3, 7), scale(), u8(), u8(7, 4), scale(), u8(), np.array(0.4, np.float32), u8()])

# --- local_normalization
node_tests("local_normalization", "lrn", lambda a, i: {k: a.get(k) for k in ("size", "alpha", "beta", "bias")})
case("local_normalization", "LRN", [f(2, 7, 3, 2)], {"size": 5, "alpha": 0.3, "beta": 0.6, "bias": 1.5})
for p, axis in [(1, -1), (2, 0), (2, 1)]:
    case("local_normalization", "LpNormalization", [f(3, 4, 2)], {"p": p, "axis": axis})
case("local_normalization", "MeanVarianceNormalization", [f(3, 3, 4, 2)])
case("local_normalization", "MeanVarianceNormalization", [f(3, 3, 4)], {"axes": [-1, 0]})
for output in range(3):
    for name in ["batchnorm_example_training_mode", "batchnorm_epsilon_training_mode"]:
        node_test("local_normalization", f"test_{name}", lambda a, i: {"operator": "BatchNormalization.Training", "epsilon": a.get("epsilon"),
                  "momentum": a.get("momentum"), "output": output}, output)

# --- lp_pooling
for attributes in [{"kernel_shape": [2, 2]}, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}, {"kernel_shape": [3, 2], "p": 1},
                   {"kernel_shape": [2, 2], "p": 3}]:
    case("lp_pooling", "LpPool", [f(1, 2, 6, 7)], attributes)
for p in [1, 2, 3]:
    case("lp_pooling", "GlobalLpPool", [f(2, 3, 4, 5)], {"p": p})
for attributes in [{"kernel_shape": [2, 2]}, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}, {"kernel_shape": [2, 3], "dilations": [2, 1]},
                   {"kernel_shape": [2, 2], "strides": [2, 2], "storage_order": 1}]:
    x = f(2, 2, 6, 7)
    case("lp_pooling", "MaxPool.Indices", [x], attributes, expected=run_onnx("MaxPool", [x], attributes, 1, 2))
for name in ["with", "without"]:
    node_test("lp_pooling", f"test_maxunpool_export_{name}_output_shape", lambda a, i: ({**a, "output_shape": [int(v) for v in i[2]]} if len(i) > 2 else a, i[:2]))

# --- losses
LOSS = ["none", "mean", "sum"]
loss = lambda a, i: {"ignore_index": a.get("ignore_index"), "reduction": LOSS.index(a.get("reduction", b"mean").decode())}
node_tests("losses", "nllloss", loss, but=[f"nllloss_NCd1d2d3{x}" for x in ("_none_no_weight_negative_ii", "_sum_weight_high_ii", "d4d5_mean_weight",
           "d4d5_none_no_weight")])  # large
for name in ["sce_mean", "sce_mean_weight", "sce_sum", "sce_none_weights", "sce_mean_weight_ii_3d", "sce_NCd1_mean_weight_negative_ii", "sce_mean_no_weight_ii_4d"]:
    node_test("losses", f"test_{name}", loss)
node_test("losses", "test_sce_mean_log_prob", lambda a, i: {**loss(a, i), "output": 1}, 1)

# --- spectral
node_test("spectral", "test_dft", lambda a, i: {"axis": a.get("axis", 1), "onesided": a.get("onesided"), "inverse": a.get("inverse")})
node_test("spectral", "test_dft_axis", lambda a, i: {"axis": a.get("axis", 1), "onesided": a.get("onesided"), "inverse": a.get("inverse")})
node_test("spectral", "test_dft_inverse", lambda a, i: {"axis": a.get("axis", 1), "onesided": a.get("onesided"), "inverse": a.get("inverse")})
x = f(2, 7, 3, 1)
case("spectral", "DFT", [x], {"axis": 1, "onesided": True}, expected=np.stack([t(np.fft.rfft(x[..., 0], axis=1)) for t in (np.real, np.imag)], -1).astype(np.float32))
case("spectral", "DFT", [x], {"axis": 2, "dft_length": 5}, expected=np.stack([t(np.fft.fft(x[..., 0], 5, axis=2)) for t in (np.real, np.imag)], -1).astype(np.float32))
x = f(2, 6, 2)
case("spectral", "DFT", [x], {"axis": 1, "dft_length": 4, "inverse": True},
     expected=np.stack([t(np.fft.ifft(x[..., 0] + 1j * x[..., 1], 4, axis=1)) for t in (np.real, np.imag)], -1).astype(np.float32))
for name in ["stft", "stft_with_window"]:
    node_test("spectral", f"test_{name}", lambda a, i: ({"frame_step": int(i[1]), "frame_length": int(i[3]) if len(i) > 3 and i[3] is not None else len(i[2])},
              [i[0]] + [x for x in i[2:3] if x is not None]))
for op in ["HannWindow", "HammingWindow", "BlackmanWindow"]:
    for periodic in (True, False):
        case("spectral", op, [], {"size": 10, "periodic": periodic}, {"periodic": int(periodic)}, [np.array(10, np.int64)])
node_test("spectral", "test_melweightmatrix", lambda a, i: ({"num_mel_bins": int(i[0]), "dft_length": int(i[1]), "sample_rate": int(i[2]),
          "lower_edge_hertz": float(i[3]), "upper_edge_hertz": float(i[4])}, []))

# --- grid_sample
grid_mode, grid_padding = [b"bilinear", b"nearest", b"bicubic"], [b"zeros", b"border", b"reflection"]
for m, mode in enumerate(["linear", "nearest", "cubic"]):
    for p, padding in enumerate(["zeros", "border", "reflection"]):
        for align in (0, 1):
            case("grid_sample", "GridSample", [f(2, 2, 4, 5), f(2, 3, 4, 2, low=-1.6, high=1.6)], {"mode": m, "padding_mode": p, "align_corners": align},
                 {"mode": mode, "padding_mode": padding, "align_corners": align})
node_tests("grid_sample", "gridsample", lambda a, i: {"mode": grid_mode.index(a.get("mode", b"bilinear")), "padding_mode": grid_padding.index(a.get("padding_mode", b"zeros")),
           "align_corners": a.get("align_corners")}, but=["gridsample_bicubic"])  # four digits only

# --- roi_align
ROI = ["half_pixel", "output_half_pixel"]
for c, name in enumerate(ROI):
    for ratio in (0, 2):
        rois = np.array([[0, 0, 3, 4], [1.5, 2, 4.5, 3], [-1, 0.3, 9, 5]], np.float32)
        case("roi_align", "RoiAlign", [f(2, 2, 6, 7), rois, i64(0, 1, 1)], {"coordinate_transformation_mode": c, "output_height": 2, "output_width": 3,
             "sampling_ratio": ratio, "spatial_scale": 0.8}, {"coordinate_transformation_mode": name, "output_height": 2, "output_width": 3,
             "sampling_ratio": ratio, "spatial_scale": 0.8})

# --- determinant
for shape in [(3, 3), (2, 3, 4, 4), (1, 1), (2, 2)]:
    case("determinant", "Det", [f(*shape)])
case("determinant", "Det", [np.array([[0, 2, 1], [1, 0, 0], [3, 1, 0]], np.float32)])
case("determinant", "Det", [np.ones((3, 3), np.float32)])

# --- einsum
for equation, shapes in [("ij,jk->ik", [(3, 4), (4, 5)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
                         ("ij->ji", [(3, 4)]), ("ij->i", [(3, 4)]), ("ij->", [(3, 4)]), ("i,i->", [(4,), (4,)]), ("i,j->ij", [(3,), (4,)]),
                         ("...ii->...i", [(2, 3, 3)]), ("ii", [(3, 3)]), ("iji->j", [(3, 2, 3)]), ("...ij,...jk", [(2, 1, 3, 4), (5, 4, 2)]),
                         ("ab,bc,cd->ad", [(2, 3), (3, 4), (4, 5)]), ("ij,ij->ij", [(3, 4), (3, 4)]), ("bnqd,qkd->bnqk", [(2, 3, 4, 5), (4, 6, 5)]),
                         ("ijk,k", [(2, 3, 4), (4,)]), ("i...,ij->j...", [(3, 2), (3, 4)]), ("abc,cde,ae->bd", [(2, 3, 4), (4, 5, 6), (2, 6)]),
                         ("b c h w , b c -> b h w", [(2, 3, 4, 5), (2, 3)]), ("ij->ij", [(3, 4)])]:
    case("einsum", "Einsum", [f(*s) for s in shapes], {"equation": [ord(c) for c in equation]}, {"equation": equation})
case("einsum", "Einsum", [ints(3, 4), ints(4, 2)], {"equation": [ord(c) for c in "ij,jk"]}, {"equation": "ij,jk"})

# --- recurrent
DIRECTIONS = ["forward", "reverse", "bidirectional"]
ACTIVATIONS = ["Relu", "Tanh", "Sigmoid", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu", "Softsign", "Softplus"]


def recurrent_case(op, gates, direction, lengths, initial, bias=True, peephole=False, **more):
    """One layer, all its outputs."""
    d, steps, batch, n, h = 2 if direction == 2 else 1, 5, 3, 4, 3
    inputs = [f(steps, batch, n), f(d, gates * h, n), f(d, gates * h, h), f(d, 2 * gates * h) if bias else None,
              np.array([5, 2, 4], np.int32) if lengths else None, f(d, batch, h) if initial else None]
    if op == "LSTM":
        inputs += [f(d, batch, h) if initial else None, f(d, 3 * h) if peephole else None]
    while inputs[-1] is None:
        inputs.pop()
    onnx_more = dict(more)
    if "activations" in more:
        more["activations"] = [ACTIVATIONS.index(a) for a in more["activations"]]
    count = 3 if op == "LSTM" else 2
    for output in range(count):
        case("recurrent", op, inputs, {"hidden_size": h, "direction": direction, "output": output, **more},
             {"hidden_size": h, "direction": DIRECTIONS[direction], **onnx_more}, output=output, outputs=count)


for op, gates in [("RNN", 1), ("GRU", 3), ("LSTM", 4)]:
    recurrent_case(op, gates, 0, False, False, False)
    recurrent_case(op, gates, 0, True, True)
    recurrent_case(op, gates, 1, True, False)
    recurrent_case(op, gates, 2, True, True)
    recurrent_case(op, gates, 2, False, True, clip=0.6)
recurrent_case("GRU", 3, 2, True, True, linear_before_reset=1)
recurrent_case("LSTM", 4, 2, True, True, peephole=True)
recurrent_case("LSTM", 4, 0, False, True, peephole=True, input_forget=1)
recurrent_case("LSTM", 4, 0, False, True, activations=["HardSigmoid", "ScaledTanh", "Softsign"], activation_alpha=[0.3, 0.9], activation_beta=[0.4, 1.2])
recurrent_case("GRU", 3, 2, False, True, activations=["Sigmoid", "Softsign", "HardSigmoid", "LeakyRelu"], activation_alpha=[0.3, 0.1], activation_beta=[0.4])
recurrent_case("RNN", 1, 0, False, True, activations=["Relu"])
for op in ["simple_rnn", "gru", "lstm"]:
    for output in (0, 1):
        node_test("recurrent", f"test_{op}_batchwise", lambda a, i: {**a, "output": output}, output)

# --- resize, with everything that newer opsets added
more_resize = lambda a, i: ({"mode": ["nearest", "linear", "cubic"].index(a["mode"].decode()),
    "coordinate_transformation_mode": (COORDINATES + ["tf_crop_and_resize", "tf_half_pixel_for_nn"]).index(a.get("coordinate_transformation_mode", b"half_pixel").decode()),
    "nearest_mode": NEAREST.index(a.get("nearest_mode", b"round_prefer_floor").decode()), "cubic_coeff_a": a.get("cubic_coeff_a"),
    "exclude_outside": a.get("exclude_outside"), "extrapolation_value": a.get("extrapolation_value"),
    "roi": None if len(i) < 2 or i[1] is None or not i[1].size else [float(v) for v in i[1]],
    "scales": None if len(i) < 3 or i[2] is None or not i[2].size else [float(v) for v in i[2]],
    "sizes": None if len(i) < 4 or i[3] is None else [int(v) for v in i[3]]}, i[:1])
node_tests("resize", "resize", more_resize, but=["resize_downsample_sizes_nearest_tf_half_pixel_for_nn",
           "resize_downsample_scales_cubic_align_corners", "resize_downsample_scales_linear_align_corners"])  # ONNX Runtime differs there
for exclude in (0, 1):
    for c, name in enumerate(COORDINATES):
        case("resize", "Resize", [f(1, 2, 5, 6)], {"scales": [1.0, 1.0, 1.7, 0.6], "mode": 2, "coordinate_transformation_mode": c, "exclude_outside": exclude,
             "cubic_coeff_a": -0.6}, {"mode": "cubic", "coordinate_transformation_mode": name, "exclude_outside": exclude, "cubic_coeff_a": -0.6},
             [None, np.array([1, 1, 1.7, 0.6], np.float32)])

# --- pad, with what newer opsets added
x = f(3, 4)
case("pad", "Pad", [x, np.array(1.5, np.float32)], {"pads": [1, 1, 0, 2]}, expected=np.pad(x, [(1, 0), (1, 2)], constant_values=1.5))
case("pad", "Pad", [x], {"pads": [2, 5, 1, 9], "mode": 3}, expected=np.pad(x, [(2, 1), (5, 9)], mode="wrap"))

# --- powers of integers
for dtype in [np.int32, np.int64]:
    case("arithmetic", "Pow", [ints(12, low=-4, high=5, dtype=dtype), ints(12, low=0, high=5, dtype=dtype)])
case("arithmetic", "Max", [ints(5, low=0, high=2**60, dtype=np.uint64) * np.uint64(13), ints(5, low=0, high=2**60, dtype=np.uint64) * np.uint64(11)])
case("arithmetic", "Mod", [ints(9, low=0, high=200, dtype=np.uint8), ints(9, low=1, high=9, dtype=np.uint8)])
case("arithmetic", "Add", [ints(9, low=0, high=250, dtype=np.uint8), ints(9, low=0, high=250, dtype=np.uint8)])

# --- combine and dims, which ONNX does not have: If between results that are both there, and extents as numbers
for condition in [False, True]:
    for shape, taken in [((), np.array(condition)), ((2, 3), np.array(condition)), ((4,), np.array([condition]))]:
        a, b = f(*shape), f(*shape)
        case("combine", "If", [taken, a, b], expected=a if condition else b)
whole = ints(5)
case("combine", "If", [np.array(True), whole, ints(5)], expected=whole)
case("dims", "Dims", [], {"values": [3, 0, 7]}, expected=i64(3, 0, 7))
case("dims", "Dims", [], {"values": [5]}, expected=i64(5))

# --- text_features
def tf_idf(a, i):
    ours = {k: a[k] for k in ("min_gram_length", "max_gram_length", "max_skip_count")}
    pool = [np.array(a[k], np.int64) for k in ("ngram_counts", "ngram_indexes", "pool_int64s")]
    weights = [np.array(a["weights"], np.float32)] if "weights" in a else []
    return {**ours, "size": max(a["ngram_indexes"]) + 1, "mode": ["TF", "IDF", "TFIDF"].index(a["mode"].decode())}, i + pool + weights


node_tests("text_features", "tfidfvectorizer", tf_idf)
pool = {"ngram_counts": [0, 4], "ngram_indexes": [0, 1, 2, 3, 4, 5, 6], "pool_int64s": [2, 3, 5, 4, 5, 6, 7, 8, 6, 7]}
weights = [2.0, 5.0, 3.0, 0.5, 1.5, 4.0, 0.25]
for m, mode in enumerate(["TF", "IDF", "TFIDF"]):
    x = ints(2, 12, low=2, high=9, dtype=np.int32)
    attributes = {"min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 2}
    case("text_features", "TfIdfVectorizer", [x] + [np.array(v, np.int64) for v in pool.values()] + [np.array(weights, np.float32)],
         {**attributes, "size": 7, "mode": m}, expected=run_onnx("TfIdfVectorizer", [x], {**attributes, **pool, "weights": weights, "mode": mode}, 0, 1))

# --- image_columns
for image, block, more in [([5, 5], [1, 5], {}), ([5, 6], [2, 3], {"strides": [2, 1]}), ([6, 5], [2, 2], {"dilations": [2, 1], "pads": [1, 0, 0, 1]}), ([7], [3], {})]:
    windows = [(n + sum(more.get("pads", [0] * 2 * len(image))[d::len(image)]) - (block[d] - 1) * more.get("dilations", [1] * len(image))[d] - 1)
               // more.get("strides", [1] * len(image))[d] + 1 for d, n in enumerate(image)]
    case("image_columns", "Col2Im", [f(2, 3 * int(np.prod(block)), int(np.prod(windows)))], {"image_shape": image, "block_shape": block, **more}, more,
         [i64(*image), i64(*block)])
for align in (0, 1):
    case("image_columns", "AffineGrid", [f(2, 2, 3)], {"size": [2, 3, 4, 5], "align_corners": align}, {"align_corners": align}, [i64(2, 3, 4, 5)])
    case("image_columns", "AffineGrid", [f(2, 3, 4)], {"size": [2, 3, 4, 5, 2], "align_corners": align}, {"align_corners": align}, [i64(2, 3, 4, 5, 2)])
for target, axes in [([10, 7, 3], None), ([4, 8], [1, 2]), ([9, 3], [0, -1]), ([20, 8, 3], None)]:
    case("image_columns", "CenterCropPad", [f(20, 8, 3)], {"shape": target, **({"axes": axes} if axes else {})}, {"axes": axes} if axes else {}, [i64(*target)])

# --- deformable_convolution
for group, offset_group, more in [(1, 1, {}), (2, 2, {"pads": [1, 1, 1, 1], "strides": [2, 1]}), (1, 2, {"dilations": [1, 2], "pads": [0, 1, 1, 0]})]:
    for bias, mask in [(False, False), (True, False), (True, True), (False, True)]:
        strides, dilations, pads = more.get("strides", [1, 1]), more.get("dilations", [1, 1]), more.get("pads", [0] * 4)
        out = [(n + pads[d] + pads[d + 2] - dilations[d] - 1) // strides[d] + 1 for d, n in enumerate((5, 6))]
        inputs = [f(2, 4, 5, 6), f(6, 4 // group, 2, 2), f(2, offset_group * 8, *out), f(6) if bias else None, f(2, offset_group * 4, *out) if mask else None]
        while inputs[-1] is None:
            inputs.pop()
        attributes = {"group": group, "offset_group": offset_group, "kernel_shape": [2, 2], **more}
        case("deformable_convolution", "DeformConv", inputs, attributes)

# --- resize with antialias, volumes sampled, truth values reduced
for c, name in enumerate(COORDINATES):
    for mode, mode_name in [(1, "linear"), (2, "cubic")]:
        for scales in [[1, 1, 0.6, 0.4], [1, 1, 1.7, 0.45]]:
            case("resize", "Resize", [f(1, 2, 9, 8)], {"scales": [float(s) for s in scales], "mode": mode, "coordinate_transformation_mode": c, "antialias": 1},
                 {"mode": mode_name, "coordinate_transformation_mode": name, "antialias": 1}, [None, np.array(scales, np.float32)])
for m, mode in [(0, "linear"), (1, "nearest")]:
    for p, padding in enumerate(["zeros", "border", "reflection"]):
        case("grid_sample", "GridSample", [f(2, 2, 3, 4, 5), f(2, 3, 2, 4, 3, low=-1.4, high=1.4)], {"mode": m, "padding_mode": p, "align_corners": p % 2},
             {"mode": mode, "padding_mode": padding, "align_corners": p % 2})
for op in ["ReduceMax", "ReduceMin"]:
    case("reduction", op, [bools(3, 4)], {"axes": [1]}, {}, [i64(1)])

# --- quantised by blocks
for shape, axis, block in [((3, 8), 1, 4), ((6, 2, 3), 0, 2), ((2, 9), -1, 3)]:
    blocks = list(shape)
    blocks[axis] = -(-shape[axis] // block)
    repeat = lambda p: np.repeat(p, block, axis=axis)
    x, s, z = f(*shape) * 3, scale(*blocks), i8(*blocks)
    q = np.clip(np.rint(x / repeat(s)) + repeat(z), -128, 127).astype(np.int8)
    case("quantization", "QuantizeLinear", [x, s, z], {"axis": axis, "block_size": block}, expected=q)
    case("quantization", "DequantizeLinear", [q, s, z], {"axis": axis, "block_size": block},
         expected=((q.astype(np.int32) - repeat(z).astype(np.int32)).astype(np.float32) * repeat(s)).astype(np.float32))

# --- signed shifts, remainders of reals, blocks in the other order, zero norms, halves of transforms
for dtype in [np.int8, np.int16, np.int32, np.int64]:
    width = 8 * np.dtype(dtype).itemsize
    a = np.array([-8, -1, 100, np.iinfo(dtype).min, -8, 4, -8, 4, np.iinfo(dtype).max, 0], dtype)
    b = np.array([1, 1, 3, 1, width, width + 1, -1, -1, width - 2, 2], dtype)
    inside = (b >= 0) & (b < width)
    case("bits", "BitShift", [a, b], {"direction": 1}, expected=np.where(inside, a >> np.where(inside, b, 0), np.where(a < 0, -1, 0)).astype(dtype))
    case("bits", "BitShift", [a, b], {"direction": 0}, expected=np.where(inside, a << np.where(inside, b, 0), 0).astype(dtype))
a = np.array([0, -0.0, 0, -0.0, -3, 3, -1, 1, np.inf, -np.inf, 1, 1, np.nan, 1, -4.3, 7.2, 5, 4.3, -7.2, 8, 6, -6], np.float32)
b = np.array([-2, 2, 2, -2, np.inf, np.inf, -np.inf, -np.inf, 2, 2, 0, -0.0, 2, np.nan, 2.1, -3.4, 8, -2.1, 3.4, 5, -3, 3], np.float32)
for dtype in [np.float32, np.float64]:
    with np.errstate(invalid="ignore"):
        case("arithmetic", "Mod", [a.astype(dtype), b.astype(dtype)], {"fmod": False}, expected=np.mod(a.astype(dtype), b.astype(dtype)))
a, b = f(4, 5, low=-9, high=9), f(5, low=-3, high=3)
case("arithmetic", "Mod", [a, b], {"fmod": False}, expected=np.mod(a, b))
for block in (2, 3):
    x = f(2, 3, 2 * block, 3 * block)
    y = x.reshape(2, 3, 2, block, 3, block).transpose(0, 1, 3, 5, 2, 4).reshape(2, 3 * block * block, 2, 3)
    case("block_rearrangement", "SpaceToDepth", [x], {"blocksize": block, "mode": 1}, expected=y)
x = f(3, 4, 2)
x[1, :, 0] = 0
x[:, 2, :] = 0
for p in (1, 2):
    for axis in (1, -1):
        case("local_normalization", "LpNormalization", [x], {"p": p, "axis": axis})
for shape, axis, length in [((2, 5, 3), 1, None), ((2, 5, 3), 1, 9), ((6, 2), 0, 7), ((2, 4, 3), 2, 8)]:
    x = f(*shape, 2)
    y = np.fft.irfft(x[..., 0] + 1j * x[..., 1], length, axis=axis)[..., None].astype(np.float32)
    case("spectral", "DFT", [x], {"axis": axis, "inverse": True, "onesided": True, **({"dft_length": length} if length else {})}, expected=y)

# --- the greatest of samples
for c, name in enumerate(ROI):
    for ratio in (0, 2):
        rois = np.array([[0, 0, 3, 4], [1.5, 2, 4.5, 3], [-1, 0.3, 9, 5]], np.float32)
        common = {"output_height": 2, "output_width": 3, "sampling_ratio": ratio, "spatial_scale": 0.8}
        case("roi_align", "RoiAlign", [f(2, 2, 6, 7), rois, i64(0, 1, 1)], {"coordinate_transformation_mode": c, "mode": 1, **common},
             {"coordinate_transformation_mode": name, "mode": "max", **common})

# --- products up to each element, bits as numbers
for axis in (0, 1, -1):
    for exclusive, reverse in [(False, False), (True, False), (False, True), (True, True)]:
        x = f(3, 4, 2)
        y = np.flip(x, axis) if reverse else x
        y = np.cumprod(y, axis=axis)
        if exclusive:
            y = np.roll(y, 1, axis=axis)
            y[tuple(slice(0, 1) if d == axis % 3 else slice(None) for d in range(3))] = 1
        y = np.flip(y, axis) if reverse else y
        case("cumulative", "CumProd", [x], {"axis": axis, "exclusive": exclusive, "reverse": reverse}, expected=y)
for dtype in [np.int32, np.int64, np.uint32]:
    x = ints(30, low=1, high=10, dtype=dtype)
    case("cumulative", "CumProd", [x], {"axis": 0}, expected=np.cumprod(x, dtype=dtype))
for real, name, whole in [(np.float32, "F32", np.int32), (np.float64, "F64", np.int64)]:
    x = np.array([0, -0.0, 1, -1, 3.14, 1e-40, np.inf, -np.inf, np.finfo(real).max], real)
    case("bit_cast", "BitCast.BitsOfReal", [x], {"from": DTYPES.index(name)}, expected=x.view(whole))
    case("bit_cast", "BitCast.RealOfBits", [x.view(whole)], {"to": DTYPES.index(name)}, expected=x)


def save(path, tensors, metadata):
    order = sorted(tensors, key=lambda n: (-tensors[n].dtype.itemsize, n))
    header, data = {"__metadata__": metadata}, b""
    for n in order:
        x = np.ascontiguousarray(tensors[n])
        header[n] = {"dtype": STORED[x.dtype.name], "shape": list(tensors[n].shape), "data_offsets": [len(data), len(data) + x.nbytes]}
        data += x.tobytes()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


FOLDER.mkdir(exist_ok=True)
for family, (tensors, metadata) in files.items():
    if len(sys.argv) > 1 and family not in sys.argv[1:]:
        continue
    save(FOLDER / f"{family}.safetensors", tensors, metadata)
    print(f"{family}: {len(metadata)} cases")
print(engines, sum(p.stat().st_size for p in FOLDER.glob("*.safetensors")), "bytes")
