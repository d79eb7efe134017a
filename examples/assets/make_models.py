# SPDX-License-Identifier: MIT
"""Writes the ONNX models of examples 04 and 05, and what ONNX Runtime makes of the second.

    pip install numpy onnx onnxruntime
    python3 examples/assets/make_models.py

digits_cnn.onnx: the trained classifier of digits_cnn.safetensors, batch size N left open.
encoder.onnx: a BERT-style encoder of 2 layers over characters, length L left open, written the way exporters write it,
shapes computed by nodes. Its weights are random (seed 5), not trained: the example is about lengths, not about meaning.
digit.png: a digit of digits.safetensors (the second test image), 64x64 pixels.
encoder_expected.safetensors: for several lengths, input_ids.<L> and the output last_hidden_state.<L>.
"""
import json
import pathlib
import struct
import zlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).parent
OPSET = [helper.make_opsetid("", 17)]


def read_safetensors(path):
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    types = {"F32": np.float32, "U8": np.uint8, "I64": np.int64}
    return {
        name: np.frombuffer(body[slice(*t["data_offsets"])], types[t["dtype"]]).reshape(t["shape"])
        for name, t in header.items()
        if name != "__metadata__"
    }


def write_safetensors(path, tensors):
    names, body, header = {np.dtype(np.float32): "F32", np.dtype(np.int64): "I64"}, b"", {}
    for name, t in tensors.items():
        begin, body = len(body), body + t.tobytes()
        header[name] = {"dtype": names[t.dtype], "shape": list(t.shape), "data_offsets": [begin, len(body)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


class Graph:
    """Nodes and initialisers, in the order in which they are asked for."""

    def __init__(self):
        self.nodes, self.weights = [], {}

    def weight(self, name, value):
        self.weights[name] = np.asarray(value)
        return name

    def __call__(self, name, op, *inputs, **attributes):
        """One node; its name is that of its output, too."""
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def integers(self, *values):
        return self.weight("ints_" + "_".join(str(v).replace("-", "m") for v in values), np.array(values, np.int64))

    def save(self, path, name, inputs, outputs):
        initialisers = [numpy_helper.from_array(value, key) for key, value in self.weights.items()]
        graph = helper.make_graph(self.nodes, name, inputs, outputs, initialisers)
        model = helper.make_model(graph, opset_imports=OPSET, ir_version=8, producer_name="make_models.py")
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)


def info(name, kind, *dims):
    return helper.make_tensor_value_info(name, kind, dims)


def digits_cnn():
    g = Graph()
    trained = {k: g.weight(k, v) for k, v in read_safetensors(HERE / "digits_cnn.safetensors").items()}

    def block(i, x):
        norm = [trained[f"bn{i}.{part}"] for part in ("weight", "bias", "running_mean", "running_var")]
        y = g(f"/conv{i}/Conv", "Conv", x, trained[f"conv{i}.weight"], trained[f"conv{i}.bias"], kernel_shape=[3, 3],
              pads=[1, 1, 1, 1])
        return g(f"/relu{i}/Relu", "Relu", g(f"/bn{i}/BatchNormalization", "BatchNormalization", y, *norm, epsilon=1e-5))

    x = block(2, block(1, "image"))
    x = block(3, g("/pool1/MaxPool", "MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]))
    x = g("/Flatten", "Flatten", g("/pool2/MaxPool", "MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]))
    x = g("/fc/Gemm", "Gemm", x, trained["fc.weight"], trained["fc.bias"], transB=1)
    g("probabilities", "Softmax", x, axis=-1)
    g.weights = {k: v for k, v in g.weights.items() if any(k in n.input for n in g.nodes)}
    g.save(HERE / "digits_cnn.onnx", "digits_cnn", [info("image", TensorProto.FLOAT, "N", 1, 8, 8)],
           [info("probabilities", TensorProto.FLOAT, "N", 10)])


CHARACTERS, LONGEST, WIDTH, HEADS, INNER, LAYERS = 128, 128, 64, 4, 128, 2


def encoder():
    g, random = Graph(), np.random.default_rng(5)

    def uniform(name, *dims):
        return g.weight(name, random.uniform(-1, 1, dims).astype(np.float32) * np.float32(2 / np.sqrt(dims[-1])))

    def linear(at, name, x, rows, columns):
        y = g(f"{at}/{name}/MatMul", "MatMul", x, uniform(f"{at}.{name}.weight".strip("/"), rows, columns))
        return g(f"{at}/{name}/Add", "Add", uniform(f"{at}.{name}.bias".strip("/"), columns), y)

    def norm(at, x):
        scale = g.weight(f"{at}.weight".strip("/"), random.uniform(0.5, 1.5, WIDTH).astype(np.float32))
        return g(f"{at}/LayerNormalization", "LayerNormalization", x, scale, uniform(f"{at}.bias".strip("/"), WIDTH),
                 axis=-1, epsilon=1e-12)

    def extent(at, x, axis):  # as exporters write it
        index = g.weight(f"axis_{axis}", np.array(axis, np.int64))
        shape = g(f"{at}/Shape_{axis}", "Shape", x)
        return g(f"{at}/Unsqueeze_{axis}", "Unsqueeze", g(f"{at}/Gather_{axis}", "Gather", shape, index, axis=0),
                 g.integers(0))

    def to_shape(at, x, *rest):
        shape = g(f"{at}/Concat", "Concat", extent(at, x, 0), extent(at, x, 1), g.integers(*rest), axis=0)
        return g(f"{at}/Reshape", "Reshape", x, shape)

    # Embeddings of characters and positions.
    words = g("/embeddings/word/Gather", "Gather", uniform("embeddings.word.weight", CHARACTERS, WIDTH), "input_ids")
    positions = g("/embeddings/Slice", "Slice", g.weight("position_ids", np.arange(LONGEST)[None]), g.integers(0),
                  extent("/embeddings", "input_ids", 1), g.integers(1), g.integers(1))
    places = g("/embeddings/position/Gather", "Gather", uniform("embeddings.position.weight", LONGEST, WIDTH), positions)
    x = norm("/embeddings/norm", g("/embeddings/Add", "Add", words, places))

    # 0 where the mask is 1, -10000 elsewhere, for all heads and rows.
    mask = g("/mask/Unsqueeze", "Unsqueeze", "attention_mask", g.integers(1, 2))
    mask = g("/mask/Sub", "Sub", g.weight("one", np.float32(1)), g("/mask/Cast", "Cast", mask, to=TensorProto.FLOAT))
    mask = g("/mask/Mul", "Mul", mask, g.weight("lowest", np.float32(-10000)))

    for i in range(LAYERS):
        at = f"/layer.{i}"
        q, k, v = (to_shape(f"{at}/{name}", linear(at, name, x, WIDTH, WIDTH), HEADS, WIDTH // HEADS)
                   for name in ("query", "key", "value"))
        q = g(f"{at}/query/Transpose", "Transpose", q, perm=[0, 2, 1, 3])
        k = g(f"{at}/key/Transpose", "Transpose", k, perm=[0, 2, 3, 1])
        v = g(f"{at}/value/Transpose", "Transpose", v, perm=[0, 2, 1, 3])
        scores = g(f"{at}/Div", "Div", g(f"{at}/MatMul", "MatMul", q, k),
                   g.weight("root", np.float32(np.sqrt(WIDTH // HEADS))))
        weights = g(f"{at}/Softmax", "Softmax", g(f"{at}/Add", "Add", scores, mask), axis=-1)
        seen = g(f"{at}/Transpose", "Transpose", g(f"{at}/MatMul_1", "MatMul", weights, v), perm=[0, 2, 1, 3])
        seen = linear(at, "output", to_shape(at, seen, WIDTH), WIDTH, WIDTH)
        x = norm(f"{at}/norm1", g(f"{at}/Add_1", "Add", seen, x))
        y = linear(at, "intermediate", x, WIDTH, INNER)
        erf = g(f"{at}/Erf", "Erf", g(f"{at}/Div_1", "Div", y, g.weight("root_of_2", np.float32(np.sqrt(2)))))
        y = g(f"{at}/Mul", "Mul", y, g(f"{at}/Add_2", "Add", erf, "one"))
        y = g(f"{at}/Mul_1", "Mul", y, g.weight("half", np.float32(0.5)))
        x = norm(f"{at}/norm2", g(f"{at}/Add_3", "Add", linear(at, "dense", y, INNER, WIDTH), x))
    g.nodes[-1].output[0] = "last_hidden_state"
    g.save(HERE / "encoder.onnx", "encoder",
           [info("input_ids", TensorProto.INT64, 1, "L"), info("attention_mask", TensorProto.INT64, 1, "L")],
           [info("last_hidden_state", TensorProto.FLOAT, 1, "L", WIDTH)])

    session = onnxruntime.InferenceSession(HERE / "encoder.onnx", providers=["CPUExecutionProvider"])
    expected = {}
    for length in (1, 2, 5, 16, 37, 64, LONGEST):
        ids = random.integers(0, CHARACTERS, (1, length), np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        expected[f"input_ids.{length}"] = ids
        expected[f"last_hidden_state.{length}"] = session.run(None, given)[0]
    write_safetensors(HERE / "encoder_expected.safetensors", expected)


def digit_png():
    ink = read_safetensors(HERE / "digits.safetensors")["test_x"][1].astype(np.float32) / 16
    gray = np.rint(255 * (1 - np.kron(ink, np.ones((8, 8))))).astype(np.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in gray)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", *gray.shape[::-1], 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows, 9)), chunk(b"IEND", b"")
    (HERE / "digit.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))


digits_cnn()
digit_png()
encoder()
