# SPDX-License-Identifier: MIT
"""Cases of single operators: random inputs, what ONNX Runtime makes of them, and the file they are kept in."""
import json
import pathlib
import struct

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

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


def run_microsoft(op, x):
    """The output of one node of the domain com.microsoft, ONNX Runtime's own."""
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], domain="com.microsoft")], "g",
                              [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)],
                              [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    engines["onnxruntime"] += 1
    return session.run(["y"], {"x": x})[0]


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
