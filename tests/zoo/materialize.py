# SPDX-License-Identifier: MIT
"""Weights, inputs and reference outputs for graphs whose large float weights were left out.

Such a graph refers to external data NAME.bin that does not exist. materialize() writes the graph and that file into a
folder: every tensor is drawn from a generator seeded by its name, scaled by what reads it, so that values stay of the
same order from layer to layer. feed() makes inputs, reference() asks ONNX Runtime for the outputs.
"""
import collections
import hashlib
import pathlib
import shutil

import numpy as np
import onnx


def generator(key):
    """Random numbers that depend on the text alone."""
    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "little")
    return np.random.Generator(np.random.Philox(seed))


def readers_of(graph, readers=None):
    """For each tensor the (operator, input number, node) that read it, subgraphs included; Identity is looked through."""
    readers = collections.defaultdict(list) if readers is None else readers
    for node in graph.node:
        for position, name in enumerate(node.input):
            readers[name].append((node.op_type, position, node))
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                readers_of(attribute.g, readers)
    for node in graph.node:
        if node.op_type == "Identity":
            readers[node.input[0]] += readers[node.output[0]]
    return readers


def fan_in_of_gemm(shape, node):
    transposed = any(a.name == "transB" and a.i for a in node.attribute)
    return shape[1] if transposed else shape[0]


def weight(tensor, readers):
    """Elements as a trained network might have them: variances and scales around 1, products divided by their fan-in."""
    shape = list(tensor.dims)
    x = generator(tensor.name).standard_normal(size=shape, dtype=np.float32)
    used = {(op, position): node for op, position, node in readers[tensor.name]}
    normalisations = ("LayerNormalization", "InstanceNormalization", "BatchNormalization", "GroupNormalization")
    if ("BatchNormalization", 4) in used:
        return 1 + 0.5 * np.abs(x)
    if any((op, 1) in used for op in normalisations):
        return 1 + 0.1 * x
    if ("Gather", 0) in used:
        return 0.5 * x
    if ("Conv", 1) in used:
        return x / np.sqrt(np.prod(shape[1:]))
    if ("ConvTranspose", 1) in used:
        return x / np.sqrt(shape[0])
    if ("Gemm", 1) in used:
        return x / np.sqrt(fan_in_of_gemm(shape, used[("Gemm", 1)]))
    if ("MatMul", 1) in used and len(shape) >= 2:
        return x / np.sqrt(shape[-2])
    if ("Mul", 0) in used or ("Mul", 1) in used:
        return 1 + 0.1 * x
    return 0.05 * x


def materialize(graph_file, folder):
    """Writes the graph and NAME.bin into `folder`, unless both are there; returns the graph's new path."""
    graph_file, folder = pathlib.Path(graph_file), pathlib.Path(folder)
    target, data = folder / graph_file.name, folder / (graph_file.stem + ".bin")
    if target.exists() and data.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    model = onnx.load(graph_file, load_external_data=False)
    readers = readers_of(model.graph)
    with open(data, "wb") as out:
        for tensor in model.graph.initializer:
            if tensor.data_location != onnx.TensorProto.EXTERNAL:
                continue
            out.seek(int(next(e.value for e in tensor.external_data if e.key == "offset")))
            gain = float(tensor.doc_string[5:]) if tensor.doc_string.startswith("gain=") else 1.0
            out.write((gain * weight(tensor, readers)).astype(np.float32).tobytes())
    shutil.copy(graph_file, target)
    return target


def picture(shape, random):
    """Smooth over the last two axes, with fine detail and an offset a channel, as photographs and spectrograms are."""
    detail = random.standard_normal(size=shape, dtype=np.float32)
    if len(shape) < 4:
        return detail
    height, width = shape[-2:]
    coarse = random.standard_normal(size=[*shape[:-2], 6, 6]).astype(np.float32)
    rows, columns = np.linspace(0, 4.999, height), np.linspace(0, 4.999, width)
    row, column = rows.astype(int), columns.astype(int)
    down, across = (rows - row).astype(np.float32)[:, None], (columns - column).astype(np.float32)

    def between_rows(a):
        return a[..., row, :] * (1 - down) + a[..., row + 1, :] * down

    smooth = between_rows(coarse)[..., column] * (1 - across) + between_rows(coarse)[..., column + 1] * across
    offset = 0.3 * random.standard_normal(size=[*shape[:-2], 1, 1])
    return (smooth + 0.3 * detail + offset).astype(np.float32)


def feed(name, session, sizes):
    """A value for each input of the session; symbols have the value that `sizes` gives them, else 1."""
    values = {}
    for x in session.get_inputs():
        shape = [d if isinstance(d, int) else sizes.get(d, 1) for d in x.shape]
        random = generator(f"{name}/{x.name}/0")
        integers = "int64" in x.type or "int32" in x.type
        values[x.name] = random.integers(0, 1000, size=shape) if integers else picture(shape, random)
    return values
