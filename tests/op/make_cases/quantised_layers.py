# SPDX-License-Identifier: MIT
"""Recurrent layers of bytes, ONNX Runtime's own, which has another order of inputs. They draw from random numbers of
their own. On one thread: on several, ONNX Runtime takes the range of each part of the rows."""
import numpy as np
import onnxruntime
from onnx import TensorProto, helper

from cases import case

random = np.random.default_rng(20261123)
ORDER = [0, 1, 2, 7, 8, 9, 10, 11, 3, 4, 5, 6]  # of dnnkit's inputs, in ONNX Runtime's node


def run(inputs, attributes):
    given = {f"x{i}": inputs[i] for i in ORDER if inputs[i] is not None}
    names = [f"x{i}" if inputs[i] is not None else "" for i in ORDER]
    node = helper.make_node("DynamicQuantizeLSTM", names, ["y0", "y1", "y2"], domain="com.microsoft", **attributes)
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in given.items()],
        [helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, None) for i in range(3)])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, given)


def layer(direction, kind, by_column, lengths=None, initial=False, bias=True, peephole=False, **more):
    """One layer, all its outputs."""
    d, steps, batch, n, h = 2 if direction == 2 else 1, 4, 3, 3, 2
    f = lambda *shape: random.standard_normal(shape).astype(np.float32)
    each = (d, 4 * h) if by_column else (d,)
    weights = lambda *shape: random.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)
    scale = lambda: random.uniform(0.002, 0.01, each).astype(np.float32)
    zero = lambda: np.full(each, 0 if kind == np.int8 and by_column else 3 if kind == np.int8 else 125, kind)
    inputs = [f(steps, batch, n), weights(d, n, 4 * h), weights(d, h, 4 * h), scale(), zero(), scale(), zero(),
              f(d, 8 * h) if bias else None, np.array(lengths, np.int32) if lengths else None,
              f(d, batch, h) if initial else None, f(d, batch, h) if initial else None, f(d, 3 * h) if peephole else None]
    results = run(inputs, {"hidden_size": h, "direction": ["forward", "reverse", "bidirectional"][direction], **more})
    while inputs[-1] is None:
        inputs.pop()
    for output in range(3):
        case("quantized_recurrent", "DynamicQuantizeLSTM", inputs,
             {"hidden_size": h, "direction": direction, **more, "output": output}, expected=results[output])


for kind in (np.int8, np.uint8):
    layer(0, kind, False, bias=False)
    layer(0, kind, True, lengths=(4, 2, 3))
    layer(1, kind, False, lengths=(1, 3, 2), initial=True)
    layer(2, kind, True, initial=True, peephole=True)
    layer(2, kind, False, initial=True, clip=0.5, input_forget=1)
