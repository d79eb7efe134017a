# SPDX-License-Identifier: MIT
"""`python3 tests/op/make_cases/dynamism.py` writes tests/operator/onnx_dynamism.hpp: the class of each of ONNX's operators
among SoD2's, as ONNX's own shape inference tells it. Of each of ONNX's tests of one node it is asked for the output's
extents, once with the inputs' elements unknown and once with them known. (That an output's elements follow from shapes
alone, isdo, is not asked.)

Needs what tests/op/make_cases needs, and is needed only when ONNX has new operators: the file is kept in the repository."""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

NODE_TESTS = pathlib.Path("/usr/lib/python3/dist-packages/onnx/backend/test/data/node")
OUT = pathlib.Path(__file__).parent.parent.parent / "operator" / "onnx_dynamism.hpp"


def outputs_known(model):
    """Whether every output that somebody wants has known extents."""
    inferred = shape_inference.infer_shapes(model, data_prop=True).graph
    return all(
        o.type.tensor_type.HasField("shape") and all(d.HasField("dim_value") for d in o.type.tensor_type.shape.dim)
        for o in inferred.output)


def without_output_shapes(model):
    for o in model.graph.output:
        o.type.tensor_type.ClearField("shape")
    return model


def class_of(model, stored):
    """The class as one model of one node shows it; `stored`: the elements of input number i."""
    without_output_shapes(model)
    if any(not i.type.HasField("tensor_type") for i in list(model.graph.input) + list(model.graph.output)):
        return None
    if outputs_known(model):
        return "isdos"
    for i, x in enumerate(model.graph.input):
        model.graph.initializer.append(stored(i))
        model.graph.initializer[-1].name = x.name
    del model.graph.input[:]
    return "isvdos" if outputs_known(model) else "edo"


def stored_in(path):
    def stored(i):
        t = TensorProto()
        t.ParseFromString((path / "test_data_set_0" / f"input_{i}.pb").read_bytes())
        return t

    return stored


# Operators of which Debian's tests have none.
f, i64 = lambda *shape: np.zeros(shape, np.float32), lambda *numbers: np.array(numbers, np.int64)
MORE = [("AffineGrid", [f(1, 2, 3), i64(1, 1, 4, 5)], {}), ("CenterCropPad", [f(4, 5), i64(2, 7)], {}),
        ("Col2Im", [f(1, 4, 4), i64(3, 3), i64(2, 2)], {}), ("DFT", [f(1, 4, 1), np.array(3), np.array(-2)], {}),
        ("GroupNormalization", [f(1, 4, 2), f(4), f(4)], {"num_groups": 2}),
        ("LpPool", [f(1, 1, 4)], {"kernel_shape": [2]}), ("Gelu", [f(2, 3)], {}), ("RMSNormalization", [f(2, 3), f(3)], {}),
        ("Swish", [f(2)], {}), ("Mish", [f(2)], {}),
        ("MaxUnpool", [f(1, 1, 2), np.zeros((1, 1, 2), np.int64), i64(1, 1, 5)], {"kernel_shape": [2], "strides": [2]})]


def models_of_more():
    for op, inputs, attributes in MORE:
        names = [f"x{i}" for i in range(len(inputs))]
        infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
                 for n, x in zip(names, inputs)]
        node = helper.make_node(op, names, ["y"], **attributes)
        graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)
        yield op, class_of(model, lambda i: numpy_helper.from_array(inputs[i]))


classes = {}
for path in sorted(NODE_TESTS.iterdir()):
    if path.name.endswith("_expanded") or len(onnx.load(path / "model.onnx").graph.node) != 1:
        continue
    try:
        model = onnx.load(path / "model.onnx")
        found = class_of(model, stored_in(path))
    except Exception as problem:
        print(path.name, str(problem)[:100])
        continue
    if found:
        classes.setdefault(model.graph.node[0].op_type, {}).setdefault(found, []).append(path.name)
for op, found in models_of_more():
    classes.setdefault(op, {}).setdefault(found, []).append("MORE")

order = ["isdos", "isvdos", "edo"]
for op, found in sorted(classes.items()):
    if len(found) > 1 or "isdos" not in found:
        print(op, {k: (len(v), v[:3]) for k, v in found.items()})
rows = "".join(f'    {{"{op}", {max(found, key=order.index)}}},\n' for op, found in sorted(classes.items()))
OUT.write_text(f'''// SPDX-License-Identifier: MIT
// Written by tests/op/make_cases/dynamism.py: SoD2's classes of ONNX's operators, as ONNX's shape inference tells them.
#pragma once

#include <string_view>

#include "dnnkit/operator/traits.hpp"

struct onnx_dynamism {{
  std::string_view name;
  dnnkit::dynamism found;
}};

inline constexpr onnx_dynamism onnx_dynamisms[] = {{
{rows.replace(", isdos", ", dnnkit::dynamism::isdos").replace(", isvdos", ", dnnkit::dynamism::isvdos").replace(", edo", ", dnnkit::dynamism::edo")}}};
''')
