# SPDX-License-Identifier: MIT
"""A model of 32-bit floats as one of 16-bit floats: every tensor, constant and Cast, inputs and outputs, too.

    python3 bench/peers/half_graph.py FOLDER MODEL.onnx ...       (with their weights; writes FOLDER/MODEL.onnx)
"""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LARGEST, LEAST = 65504.0, 2.0**-24
# What an operator's specification has as 32-bit floats whatever the type of the others, by the number of the input.
KEPT = {"Resize": (1, 2), "Upsample": (1,)}


def half_of_array(x):
    """The nearest halves: infinite only what was, zero only what was."""
    rounded = np.where(np.isfinite(x), np.clip(x, -LARGEST, LARGEST), x).astype(np.float16)
    return np.where((rounded == 0) & (x != 0), np.copysign(np.float16(LEAST), x), rounded).astype(np.float16)


def convert_tensor(tensor):
    if tensor.data_type == TensorProto.FLOAT:
        tensor.CopyFrom(numpy_helper.from_array(half_of_array(numpy_helper.to_array(tensor)), tensor.name))


def convert_type(value):
    if value.type.tensor_type.elem_type == TensorProto.FLOAT:
        value.type.tensor_type.elem_type = TensorProto.FLOAT16


def convert_node(node):
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            convert_graph(attribute.g)
        elif attribute.type == onnx.AttributeProto.TENSOR:
            convert_tensor(attribute.t)
        elif node.op_type == "Constant" and attribute.name in ("value_float", "value_floats"):
            x = np.array(helper.get_attribute_value(attribute), np.float32)
            attribute.CopyFrom(helper.make_attribute("value", numpy_helper.from_array(half_of_array(x))))
        elif attribute.name in ("to", "dtype") and attribute.i == TensorProto.FLOAT:
            attribute.i = TensorProto.FLOAT16
    if node.op_type == "ConstantOfShape" and not node.attribute:
        node.attribute.append(helper.make_attribute("value", helper.make_tensor("", TensorProto.FLOAT16, [1], [0.0])))


def convert_graph(graph):
    kept = {node.input[i] for node in graph.node for i in KEPT.get(node.op_type, ()) if i < len(node.input)}
    for tensor in graph.initializer:
        if tensor.name not in kept:
            convert_tensor(tensor)
    for node in graph.node:
        if not kept.intersection(node.output):
            convert_node(node)
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.name not in kept:
            convert_type(value)


def half_of(path, folder):
    """Writes the model at `path`, with its weights, as one of 16-bit floats into `folder`; returns the new path."""
    path, folder = pathlib.Path(path), pathlib.Path(folder)
    target = folder / path.name
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        model = onnx.load(path)
        convert_graph(model.graph)
        onnx.save(model, target, save_as_external_data=True, location=f"{path.stem}.bin", size_threshold=1024)
    return target


if __name__ == "__main__":
    import sys
    for name in sys.argv[2:]:
        print(half_of(name, sys.argv[1]))
