# SPDX-License-Identifier: MIT
"""Times recurrent layers against ONNX Runtime: prints one JSON object a layer."""

import json

import numpy
from onnx import TensorProto, helper, numpy_helper

from made_model import arguments, compared, is_wanted

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1, "DynamicQuantizeLSTM": 4}
LAYERS = [  # operator, steps, batch, inputs, units, directions
    (operator, steps, 1, inputs, units, directions)
    for operator in ("LSTM", "GRU")
    for steps, inputs, units in ((512, 512, 512), (20, 512, 256))
    for directions in (1, 2)
] + [("LSTM", 64, 16, 128, 128, 1), ("LSTM", 1, 1, 128, 128, 1), ("RNN", 100, 1, 256, 256, 1)]
LAYERS += [
    ("DynamicQuantizeLSTM", *sizes)
    for sizes in ((512, 1, 512, 512, 1), (20, 1, 512, 512, 2), (20, 1, 512, 256, 1), (64, 16, 128, 128, 1))
]


def model_of(operator, steps, batch, inputs, units, directions):
    """A graph of one layer, all of whose states are its output; a GRU resets sums, as PyTorch's does."""
    random, gates = numpy.random.default_rng(1), GATES[operator]

    def weight(name, *shape):
        bound = 1 / numpy.sqrt(units)
        return numpy_helper.from_array(random.uniform(-bound, bound, shape).astype(numpy.float32), name)

    def weight_of_bytes(name, *shape):
        return numpy_helper.from_array(random.integers(-128, 128, shape).astype(numpy.int8), name)

    attributes = {"hidden_size": units, "direction": "bidirectional" if directions == 2 else "forward"}
    if operator == "GRU":
        attributes["linear_before_reset"] = 1
    names, domain = ["x", "w", "r", "b"], ""
    weights = [
        weight("w", directions, gates * units, inputs),
        weight("r", directions, gates * units, units),
        weight("b", directions, 2 * gates * units),
    ]
    if operator == "DynamicQuantizeLSTM":
        names, domain = names + [""] * 4 + ["scale", "zero", "scale", "zero"], "com.microsoft"
        scale = numpy.full(directions, 1 / (128 * numpy.sqrt(units)), numpy.float32)
        weights[:2] = [
            weight_of_bytes("w", directions, inputs, gates * units),
            weight_of_bytes("r", directions, units, gates * units),
        ]
        zero = numpy.zeros(directions, numpy.int8)
        weights += [numpy_helper.from_array(scale, "scale"), numpy_helper.from_array(zero, "zero")]
    graph = helper.make_graph(
        [helper.make_node(operator, names, ["y"], domain=domain, **attributes)],
        operator,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [steps, batch, inputs])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [steps, directions, batch, units])],
        weights,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def main():
    a = arguments(__doc__)
    for layer in LAYERS:
        operator, steps, batch, inputs, units, _ = layer
        name = f"{operator.lower()}_{'x'.join(map(str, layer[1:]))}"
        if is_wanted(name, a):
            x = numpy.random.default_rng(2).standard_normal((steps, batch, inputs)).astype(numpy.float32)
            runs = 9 if steps * units > 100_000 else 201
            print(json.dumps(compared(a, name, model_of(*layer), {"x": x}, runs)), flush=True)


main()
