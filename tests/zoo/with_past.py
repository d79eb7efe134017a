# SPDX-License-Identifier: MIT
"""The zoo's GPT-2 as a decoder with a cache: one token, and the keys and values of all before it.

write(graph, path) makes a graph with the weights of `graph`, by name and place, so that one gpt2.bin serves both. Inputs
ids [1, 1] and, of each layer, past_key and past_value [1, 12, P, 64]; outputs y [1, 1, 50257], present_key and
present_value [1, 12, P + 1, 64]: what Optimum writes as past_key_values.N.key and so on. With `rows_first` they are
[P, 1, 12, 64]: one row a token, which is how a state grows in place.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LAYERS, HEADS, WIDTH, VOCABULARY = 12, 12, 64, 50257


class Decoder:
    """Nodes in the order in which they are asked for; each is named as its output."""

    def __init__(self):
        self.nodes, self.constants = [], {}

    def __call__(self, name, op, *inputs, outputs=None, **attributes):
        self.nodes.append(helper.make_node(op, list(inputs), outputs or [name], name=name, **attributes))
        return name

    def constant(self, name, value, kind):
        self.constants[name] = np.array(value, kind)
        return name

    def linear(self, name, x, weight):
        """x [1, ...] times a weight of the file, and its bias."""
        return self(name, "Gemm", x, f"{weight}.weight", f"{weight}.bias")

    def norm(self, name, x, weight):
        return self(name, "LayerNormalization", x, f"{weight}.weight", f"{weight}.bias", axis=-1, epsilon=1e-5)

    def gelu(self, name, x):
        cube = self(f"{name}/cube", "Pow", x, self.constant("three", 3, np.float32))
        small = self(f"{name}/small", "Mul", cube, self.constant("gelu_cubic", 0.044715, np.float32))
        inner = self(f"{name}/inner", "Add", x, small)
        scaled = self(f"{name}/scaled", "Mul", inner, self.constant("gelu_scale", (2 / np.pi) ** 0.5, np.float32))
        half = self(f"{name}/half", "Mul", x, self.constant("a_half", 0.5, np.float32))
        tanh = self(f"{name}/tanh", "Tanh", scaled)
        return self(name, "Mul", half, self(f"{name}/raised", "Add", tanh, self.constant("one", 1, np.float32)))

    def cached(self, name, new, rows_first):
        """The rows of all tokens as [1, 12, P + 1, 64]: the cache's, and this token's, which is all [1, 768]."""
        heads = [1, 1, HEADS, WIDTH] if rows_first else [1, HEADS, 1, WIDTH]
        new = self(f"{name}/heads", "Reshape", new, self.constant("heads_of_token", heads, np.int64))
        present = self(f"present_{name}", "Concat", f"past_{name}", new, axis=0 if rows_first else 2)
        return self(f"{name}/rows", "Transpose", present, perm=[1, 2, 0, 3]) if rows_first else present

    def layer(self, x, i, rows_first):
        weights, l = f"m.transformer.h.{i}", f"layer{i}"
        mixed = self.linear(f"{l}/qkv", self.norm(f"{l}/norm1", x, f"{weights}.ln_1"), f"{weights}.attn.c_attn")
        q, k, v = (f"{l}/{part}" for part in "qkv")
        self(f"{l}/split", "Split", mixed, self.constant("thirds", 3 * [HEADS * WIDTH], np.int64), outputs=[q, k, v], axis=1)
        query = self(f"{l}/query", "Reshape", q, self.constant("heads", [1, HEADS, 1, WIDTH], np.int64))
        keys, values = (self.cached(f"{kind}{i}", part, rows_first) for kind, part in (("key", k), ("value", v)))
        scores = self(f"{l}/scores", "MatMul", query, self(f"{l}/keys", "Transpose", keys, perm=[0, 1, 3, 2]))
        scaled = self(f"{l}/scaled", "Mul", scores, self.constant("scale", WIDTH**-0.5, np.float32))
        seen = self(f"{l}/seen", "MatMul", self(f"{l}/softmax", "Softmax", scaled, axis=-1), values)
        flat = self(f"{l}/flat", "Reshape", seen, self.constant("row", [1, HEADS * WIDTH], np.int64))
        x = self(f"{l}/attended", "Add", x, self.linear(f"{l}/projected", flat, f"{weights}.attn.c_proj"))
        wide = self.linear(f"{l}/wide", self.norm(f"{l}/norm2", x, f"{weights}.ln_2"), f"{weights}.mlp.c_fc")
        narrow = self.linear(f"{l}/narrow", self.gelu(f"{l}/gelu", wide), f"{weights}.mlp.c_proj")
        return self(l, "Add", x, narrow)


def write(graph, path, rows_first=False):
    source = onnx.load(graph, load_external_data=False)
    d = Decoder()
    token = d("token", "Reshape", "ids", d.constant("flat", [1], np.int64))
    shape = d("past_shape", "Shape", "past_key0")
    position = d("position", "Gather", shape, d.constant("axis", [0 if rows_first else 2], np.int64), axis=0)
    x = d("embedded", "Add", d("word", "Gather", "m.transformer.wte.weight", token),
          d("place", "Gather", "m.transformer.wpe.weight", position))
    for i in range(LAYERS):
        x = d.layer(x, i, rows_first)
    last = next(n for n in reversed(source.graph.node) if n.op_type == "MatMul")
    y = d("logits", "MatMul", d.norm("norm", x, "m.transformer.ln_f"), last.input[1])
    d("y", "Reshape", y, d.constant("shape_of_y", [1, 1, VOCABULARY], np.int64))

    def state(kind, i, rows):
        dims = [rows, 1, HEADS, WIDTH] if rows_first else [1, HEADS, rows, WIDTH]
        return helper.make_tensor_value_info(f"{kind}{i}", TensorProto.FLOAT, dims)

    kinds = [(kind, i) for i in range(LAYERS) for kind in ("key", "value")]
    used = {name for n in d.nodes for name in n.input}
    kept = [t for t in source.graph.initializer if t.name in used]
    result = helper.make_graph(
        d.nodes, "gpt2_past",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, 1])] + [state(f"past_{k}", i, "P") for k, i in kinds],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, VOCABULARY])]
        + [state(f"present_{k}", i, "P + 1") for k, i in kinds],
        kept + [numpy_helper.from_array(v, k) for k, v in d.constants.items()])
    model = helper.make_model(result, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="with_past.py")
    path.write_bytes(model.SerializeToString())
