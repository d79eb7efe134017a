# SPDX-License-Identifier: MIT
"""An ONNX graph as a PyTorch module, where no package has the network. Operators are those of the zoo's U-Net and
YOLOv8; what is computed from extents and constants alone is computed with numpy, when the module is settled."""
import numpy as np
import onnx
import onnx.numpy_helper
import torch
import torch.nn.functional as F


def attributes_of(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def pairs(pads):
    """ONNX's begins of all axes, then ends, as a number an axis; both have to be the same."""
    half = len(pads) // 2
    if list(pads[:half]) != list(pads[half:]):
        raise ValueError(f"pads differ: {pads}")
    return list(pads[:half])


def slice_of(x, starts, ends, axes, steps):
    index = [slice(None)] * x.ndim
    for s, e, a, t in zip(starts, ends, axes, steps):
        index[int(a)] = slice(int(s), int(e) if e < 2**62 else None, int(t))
    return x[tuple(index)]


ARITHMETIC = {"Add": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Mul": lambda a, b: a * b,
              "Div": lambda a, b: a // b if isinstance(a, np.ndarray) and a.dtype.kind == "i" else a / b}


class graph_module(torch.nn.Module):
    """Its nodes are plain tuples, and `settle` has computed what needs no input's elements."""
    def __init__(self, path):
        super().__init__()
        model = onnx.load(path)
        self.nodes = [(n.op_type, attributes_of(n), list(n.input), list(n.output)) for n in model.graph.node]
        self.inputs = [x.name for x in model.graph.input]
        self.outputs = [x.name for x in model.graph.output]
        self.numbers, self.place = {}, {}
        for t in model.graph.initializer:
            self.keep(t.name, onnx.numpy_helper.to_array(t))

    def keep(self, name, value):
        if value.dtype.kind == "f" and value.size > 1:
            self.place[name] = f"w{len(self.place)}"
            self.register_buffer(self.place[name], torch.from_numpy(value.copy()))
        else:
            self.numbers[name] = value

    def settle(self, *inputs):
        """With inputs of the extents that all others will have."""
        left, known = [], self.run(*inputs)
        for node in self.nodes:
            results = [known[name] for name in node[3]]
            if all(torch.is_tensor(v) for v in results):
                if node[0] == "Resize":
                    node[1]["scales"] = [float(s) for s in known[node[2][2]]]
                left.append(node)
            else:
                for name, value in zip(node[3], results):
                    self.keep(name, np.asarray(value))
        self.nodes = left
        self.numbers = {name: value.tolist() for name, value in self.numbers.items()}
        return self

    def run(self, *inputs):
        known = dict(zip(self.inputs, inputs)) | self.numbers
        known |= {name: getattr(self, place) for name, place in self.place.items()}
        for op, attributes, taken, given in self.nodes:
            result = self.compute(op, attributes, *(known[name] if name else None for name in taken))
            known |= zip(given, result if isinstance(result, (list, tuple)) else [result])
        return known

    def forward(self, *inputs):
        known = self.run(*inputs)
        return tuple(known[name] for name in self.outputs)

    @staticmethod
    def compute(op, a, *x):
        if op in ARITHMETIC:
            if any(torch.is_tensor(v) for v in x):
                x = [v[0] if isinstance(v, list) else v for v in x]
            return ARITHMETIC[op](*x)
        if op == "Constant":
            return onnx.numpy_helper.to_array(a["value"])
        if op == "Shape":
            return np.array(x[0].shape)
        if op == "Gather":
            return np.take(x[0], x[1], a.get("axis", 0))
        if op == "Conv":
            return F.conv2d(x[0], x[1], x[2] if len(x) > 2 else None, a["strides"], pairs(a["pads"]), a["dilations"],
                            a["group"])
        if op == "ConvTranspose":
            return F.conv_transpose2d(x[0], x[1], x[2], a["strides"], pairs(a["pads"]), 0, a["group"], a["dilations"])
        if op == "MaxPool":
            return F.max_pool2d(x[0], a["kernel_shape"], a["strides"], pairs(a["pads"]))
        if op == "Relu":
            return F.relu(x[0])
        if op == "Sigmoid":
            return torch.sigmoid(x[0])
        if op == "Softmax":
            return torch.softmax(x[0], a.get("axis", -1))
        if op == "Concat":
            if all(torch.is_tensor(v) for v in x):
                return torch.cat(x, a["axis"])
            return np.concatenate(x, a["axis"])
        if op == "Reshape":
            return x[0].reshape([int(n) for n in x[1]])
        if op == "Transpose":
            return x[0].permute(a["perm"])
        if op == "Slice":
            axes = x[3] if len(x) > 3 else range(len(x[1]))
            return slice_of(x[0], x[1], x[2], axes, x[4] if len(x) > 4 else [1] * len(x[1]))
        if op == "Split":
            return torch.split(x[0], [int(n) for n in x[1]], a["axis"])
        if op == "Resize":
            return F.interpolate(x[0], scale_factor=(a.get("scales") or [float(s) for s in x[2]])[2:],
                                 mode="nearest")
        raise ValueError(f"no {op} here")
