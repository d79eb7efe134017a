# SPDX-License-Identifier: MIT
"""`python3 tests/onnx/import/microsoft_cases.py` writes tests/onnx/import/cases/microsoft.safetensors: models of one
operator of the domain com.microsoft, inputs, and what ONNX Runtime makes of them.

Needs `pip install numpy onnx onnxruntime`, and is needed only when cases change: the file is kept in the repository.

A case NAME is the tensors NAME/model (the bytes of the model), NAME/0, NAME/1, ... (its inputs in order) and NAME/y0, ...
(its outputs), and a metadata entry NAME -> "STEPS TOLERANCE": by how many steps integers, and by how much of the largest
magnitude reals may deviate.
"""
import pathlib
import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "op" / "make_cases"))
from cases import save

FILE = pathlib.Path(__file__).parent / "cases" / "microsoft.safetensors"
random = np.random.default_rng(20261122)
tensors, metadata = {}, {}


def f(*shape, low=None, high=None):
    if low is None:
        return random.standard_normal(shape).astype(np.float32)
    return random.uniform(low, high, shape).astype(np.float32)


def ints(*shape, low, high, dtype):
    return random.integers(low, high, shape).astype(dtype)


def u8(*shape, low=0, high=256):
    return ints(*shape, low=low, high=high, dtype=np.uint8)


def i8(*shape, low=-128, high=128):
    return ints(*shape, low=low, high=high, dtype=np.int8)


def number(x, dtype=np.float32):
    return np.array(x, dtype)


def model_of(op, inputs, attributes, outputs, constants, domain):
    """One node; inputs of the numbers in `constants` are initialisers."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    results = [f"y{i}" if i in outputs else "" for i in range(max(outputs) + 1)]
    node = helper.make_node(op, names, results, domain=domain, name="n", **attributes)
    free = [i for i, x in enumerate(inputs) if x is not None and i not in constants]
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info(names[i], helper.np_dtype_to_tensor_dtype(inputs[i].dtype), inputs[i].shape)
         for i in free],
        [helper.make_tensor_value_info(r, TensorProto.FLOAT, None) if r == "y3" else helper.make_empty_tensor_value_info(r)
         for r in results if r],
        [numpy_helper.from_array(inputs[i], names[i]) for i in constants])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8), [inputs[i] for i in free], free


def run(model, given, free):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {f"x{i}": x for i, x in zip(free, given)})


def result_of(op, inputs, attributes, outputs=(0,)):
    """What ONNX Runtime makes of the same in a format that it takes."""
    return run(*model_of(op, inputs, attributes, outputs, (), "com.microsoft"))


def case(op, inputs, attributes=None, outputs=(0,), constants=(), expected=None, steps=0, tolerance=4e-6,
         domain="com.microsoft"):
    """`expected`: where ONNX Runtime has no kernel for the processor, or not for this format."""
    model, given, free = model_of(op, inputs, attributes or {}, outputs, constants, domain)
    if expected is None:
        expected = run(model, given, free)
    name = f"{op}_{sum(k.rpartition('_')[0] == op for k in metadata)}"
    metadata[name] = f"{steps} {tolerance}"
    tensors[f"{name}/model"] = np.frombuffer(model.SerializeToString(), np.uint8)
    tensors.update({f"{name}/{i}": np.asarray(x) for i, x in enumerate(given)})
    tensors.update({f"{name}/y{i}": np.asarray(y) for i, y in enumerate(expected)})
    return expected


# --- activations
case("Gelu", [f(3, 9) * 3])
case("BiasGelu", [f(2, 3, 8) * 2, f(8)])
case("FastGelu", [f(3, 9) * 3])
case("FastGelu", [f(2, 3, 8), f(8)])
case("QuickGelu", [f(3, 9) * 3])
case("QuickGelu", [f(3, 9) * 3], {"alpha": 0.7})

# --- products and convolutions
for activation, params in [("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [0.3]), ("Clip", [-0.4, 0.6]),
                           ("HardSigmoid", [0.3, 0.4])]:
    case("FusedConv", [f(1, 2, 5, 6), f(3, 2, 3, 3), f(3)], {"activation": activation, "activation_params": params or [0.0],
         "kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 1]})
case("FusedConv", [f(1, 2, 5, 6), f(3, 2, 3, 3), f(3), f(1, 3, 3, 4)], {"activation": "Relu", "kernel_shape": [3, 3]})
case("FusedConv", [f(1, 2, 5, 5), f(2, 1, 3, 3)], {"group": 2, "auto_pad": "SAME_UPPER"})
for activation, more in [("Relu", {}), ("LeakyRelu", {"activation_alpha": 0.2}), ("Elu", {"activation_alpha": 0.7}),
                         ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.4}), ("Tanh", {}), ("Sigmoid", {}),
                         ("Softplus", {}), ("Softsign", {}), ("ThresholdedRelu", {"activation_alpha": 0.5}),
                         ("Selu", {"activation_alpha": 1.5, "activation_gamma": 1.1})]:
    case("FusedGemm", [f(4, 3), f(5, 4), f(5)], {"activation": activation, "transA": 1, "transB": 1, "alpha": 0.5,
         "beta": 2.0, **more})
case("FusedMatMul", [f(2, 3, 4), f(2, 4, 5)], {"alpha": 0.25})
case("FusedMatMul", [f(2, 4, 3), f(2, 5, 4)], {"transA": 1, "transB": 1})
case("FusedMatMul", [f(3, 2, 4), f(4, 2, 5)], {"transBatchA": 1, "transBatchB": 1})
case("FusedMatMul", [f(4, 2, 3), f(2, 5, 4)], {"transBatchA": 1, "transA": 1, "transB": 1, "alpha": -2.0})
case("FusedMatMul", [f(4), f(4, 5)], {"transA": 1})
case("TransposeMatMul", [f(4, 3), f(4, 5)], {"transA": 1})

# --- normalisations
for skip in [(2, 3, 8), (1, 3, 8), (3, 8)]:
    case("SkipLayerNormalization", [f(2, 3, 8), f(*skip), f(8), f(8)], {"epsilon": 1e-5})
case("SkipLayerNormalization", [f(2, 3, 8), f(2, 3, 8), f(8)])
case("SkipLayerNormalization", [f(2, 3, 8), f(2, 3, 8), f(8), None, f(8)])
case("SkipLayerNormalization", [f(2, 3, 8), f(2, 3, 8), f(8), f(8), f(8)], outputs=(0, 3))
case("SkipSimplifiedLayerNormalization", [f(2, 3, 8), f(2, 3, 8), f(8)], {"epsilon": 1e-5})
case("SkipSimplifiedLayerNormalization", [f(2, 3, 8), f(3, 8), f(8), f(8)], outputs=(0, 3))
case("SimplifiedLayerNormalization", [f(2, 3, 8), f(8)], domain="")
case("SimplifiedLayerNormalization", [f(2, 3, 8), f(3, 8)], {"axis": 1, "epsilon": 1e-3}, outputs=(0, 1), domain="")
tables = [f(11, 8), f(7, 8), f(2, 8), f(8), f(8)]
words, segments = ints(2, 5, low=0, high=11, dtype=np.int32), ints(2, 5, low=0, high=2, dtype=np.int32)
mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
case("EmbedLayerNormalization", [words, segments, *tables], outputs=(0, 1))
case("EmbedLayerNormalization", [words, segments, *tables, mask], {"epsilon": 1e-5}, outputs=(0, 1, 2))
case("EmbedLayerNormalization", [words, None, tables[0], tables[1], None, tables[3], tables[4], mask], outputs=(0, 1))
case("EmbedLayerNormalization", [words, segments, *tables, None, ints(2, 5, low=0, high=7, dtype=np.int32)], outputs=(0, 1))


# --- attention
def lengths(*n):
    return np.array(n, np.int32)


hidden, heads = 8, 2
x, w, b = f(2, 4, 6), f(6, 24), f(24)
past = f(2, 2, heads, 3, 4)
case("Attention", [x, w, b], {"num_heads": heads})
case("Attention", [x, w, None], {"num_heads": heads, "scale": 0.3},
     expected=result_of("Attention", [x, w, np.zeros(24, np.float32)], {"num_heads": heads, "scale": 0.3}))
case("Attention", [x, w, b, lengths(4, 2)], {"num_heads": heads})
case("Attention", [x, w, b, lengths(4, 3, 1, 0)], {"num_heads": heads, "mask_filter_value": -500.0})
case("Attention", [x, w, b, np.array([[1, 1, 0, 1], [0, 0, 0, 0]], np.int32)], {"num_heads": heads})
case("Attention", [x, w, b, ints(2, 4, 4, low=0, high=2, dtype=np.int32)], {"num_heads": heads})
case("Attention", [x, w, b, None], {"num_heads": heads, "unidirectional": 1})
case("Attention", [x, w, b, np.array([[1, 1, 0, 1], [1, 0, 1, 1]], np.int32)], {"num_heads": heads, "unidirectional": 1})
case("Attention", [x, w, b, None, past], {"num_heads": heads, "unidirectional": 1}, outputs=(0, 1))
case("Attention", [x, w, b, ints(2, 7, low=0, high=2, dtype=np.int32), past], {"num_heads": heads}, outputs=(0, 1))
case("Attention", [x, f(6, 8 + 8 + 4), f(20), None, None, f(2, 1, 4, 4)], {"num_heads": heads, "qkv_hidden_sizes": [8, 8, 4]})
mask = ints(2, 1, 9, 9, low=0, high=2, dtype=np.int32)
case("Attention", [x, w, b, mask, past], {"num_heads": heads}, outputs=(0, 1),
     expected=result_of("Attention", [x, w, b, mask[:, 0, 3:7, :7], past], {"num_heads": heads}, (0, 1)))

q, k, v = f(2, 4, 8), f(2, 5, 8), f(2, 5, 4)
case("MultiHeadAttention", [q, k, v], {"num_heads": heads})
case("MultiHeadAttention", [q, k, v, f(20)], {"num_heads": heads, "scale": 0.4})
case("MultiHeadAttention", [q, k, v, None, lengths(5, 3)], {"num_heads": heads})
case("MultiHeadAttention", [q, k, v, None, np.array([[1, 1, 0, 1, 1], [1, 1, 1, 0, 0]], np.int32), f(1, 2, 4, 5)],
     {"num_heads": heads, "mask_filter_value": -1e9})
case("MultiHeadAttention", [q, k, v, None, ints(2, 4, 5, low=0, high=2, dtype=np.int32), f(2, 1, 4, 5)], {"num_heads": heads})
case("MultiHeadAttention", [q, f(2, 4, 8), f(2, 4, 8), None, None, None, f(2, 2, 3, 4), f(2, 2, 3, 4)],
     {"num_heads": heads, "unidirectional": 1}, outputs=(0, 1, 2))
case("MultiHeadAttention", [q, f(2, 2, 5, 4), f(2, 2, 5, 4), f(24)], {"num_heads": heads})
case("MultiHeadAttention", [q, k, v, f(20), None, f(1, 1, 4, 5)], {"num_heads": heads}, outputs=(0, 1, 2, 3))
packed = f(2, 4, heads, 3, 4)
apart = [packed[:, :, :, i].reshape(2, 4, 8) for i in range(3)]
bias = f(24)
case("MultiHeadAttention", [packed, None, None, bias], {"num_heads": heads},
     expected=result_of("MultiHeadAttention", [*apart, bias], {"num_heads": heads}))
packed = f(2, 5, heads, 2, 4)
apart = [packed[:, :, :, i].reshape(2, 5, 8) for i in range(2)]
case("MultiHeadAttention", [q, packed, None], {"num_heads": heads},
     expected=result_of("MultiHeadAttention", [q, *apart], {"num_heads": heads}))

cosines, sines = f(16, 4), f(16, 4)
places = ints(2, 4, low=0, high=16, dtype=np.int64)
case("RotaryEmbedding", [f(2, 4, 16), places, cosines, sines])
case("RotaryEmbedding", [f(2, 4, 16), places, cosines, sines], {"interleaved": 1})
case("RotaryEmbedding", [f(2, 4, 16), np.array([5], np.int64), cosines, sines], {"num_heads": 2})
case("RotaryEmbedding", [f(2, 2, 4, 8), places, cosines, sines])
case("RotaryEmbedding", [f(2, 4, 16), places, f(16, 2), f(16, 2)], {"num_heads": 2, "rotary_embedding_dim": 4})


def room(valid, most, *shape):
    """Keys of which some places are still free."""
    x = f(*shape[:2], most, shape[2])
    x[:, :, valid:] = 0
    return x


def grouped(q, k, v, past, valid, total, more=(), **attributes):
    """GroupQueryAttention of 4 heads for queries and 2 for keys, size 16: the new keys, after `past` or without."""
    inputs = [q, k, v, *(past or (None, None)), np.array(valid, np.int32) - 1, np.array(total, np.int32), *more]
    case("GroupQueryAttention", inputs, {"num_heads": 4, "kv_num_heads": 2, **attributes}, outputs=(0, 1, 2), constants=(6,))


rotary = (f(16, 8), f(16, 8))
q, k, v = f(2, 3, 64), f(2, 3, 32), f(2, 3, 32)
grouped(q, k, v, None, [3, 3], 3)
grouped(q, k, v, None, [3, 3], 3, rotary, do_rotary=1)
grouped(q, k, v, None, [3, 3], 3, rotary, do_rotary=1, rotary_interleaved=1, scale=0.2, softcap=2.0)
grouped(f(2, 3, 128), None, None, None, [3, 3], 3, rotary, do_rotary=1, local_window_size=2)
grouped(q, k, v, None, [3, 3], 3, (None, None, None, f(2, 4, 3, 3)))
grouped(q, k, v, None, [3, 3], 3, (None, None, None, None, f(4)))
grouped(q, k, v, None, [3, 3], 3, smooth_softmax=1)
grouped(q, k, v, None, [3, 3], 3, causal=0)
step = [f(2, 1, 64), f(2, 1, 32), f(2, 1, 32)]
grouped(*step, (f(2, 2, 4, 16), f(2, 2, 4, 16)), [5, 5], 5, rotary, do_rotary=1)
one = [f(1, 1, 64), f(1, 1, 32), f(1, 1, 32)]
grouped(*one, (f(1, 2, 4, 16), f(1, 2, 4, 16)), [5], 5, rotary, do_rotary=1)
grouped(f(1, 3, 64), f(1, 3, 32), f(1, 3, 32), (f(1, 2, 4, 16), f(1, 2, 4, 16)), [7], 7, rotary, do_rotary=1)
grouped(*one, (room(4, 9, 1, 2, 16), room(4, 9, 1, 2, 16)), [5], 5, rotary, do_rotary=1, local_window_size=3)
keys = [room(5, 9, 2, 2, 16), room(5, 9, 2, 2, 16)]
for x in keys:
    x[1, :, 3:] = 0
grouped(*step, keys, [6, 4], 6, rotary, do_rotary=1)

# --- 8-bit products with real results
case("QAttention", [u8(2, 4, 6), i8(6, 24), f(24), number(0.02), number(0.03), None, number(120, np.uint8), number(3, np.int8)],
     {"num_heads": heads}, tolerance=1e-5)
case("QAttention", [u8(2, 4, 6), i8(6, 24), f(24), number(0.02), f(24, low=0.01, high=0.03), lengths(4, 2), number(120, np.uint8),
     i8(24, low=-3, high=4), past], {"num_heads": heads, "unidirectional": 1}, outputs=(0, 1), tolerance=1e-5)
for a, b in [(u8, u8), (u8, i8), (i8, i8)]:
    case("MatMulIntegerToFloat", [a(3, 6), b(6, 5), f(1, low=0.01, high=0.1), f(5, low=0.01, high=0.1), a(1), b(5), f(5)],
         tolerance=1e-5)
case("MatMulIntegerToFloat", [u8(2, 3, 6), u8(6, 5), number(0.1), number(0.2)], tolerance=1e-5)
case("DynamicQuantizeMatMul", [f(2, 3, 6), i8(6, 5), number(0.03), number(2, np.int8)], tolerance=1e-5)
case("DynamicQuantizeMatMul", [f(3, 6) + 1, u8(6, 5), f(5, low=0.01, high=0.1), u8(5), f(5)], tolerance=1e-5)
case("DynamicQuantizeMatMul", [f(3, 6), i8(6, 5), f(5, low=0.01, high=0.1), None, f(5)], tolerance=1e-5)
def quantised_lstm(steps, batch, wide, units, direction="forward", kind=i8, by_column=False, ends=None, initial=False,
                   peephole=False, bias=True, **more):
    d = 2 if direction == "bidirectional" else 1
    each = (d, 4 * units) if by_column else (d,)
    middle = 0 if kind is i8 else 128
    spread = 0 if by_column else 4  # ONNX Runtime takes no zero points of columns but 0, or all the same

    def parameters():
        zero = middle + np.broadcast_to(random.integers(-spread, spread + 1, (d, 1)), (d, 4 * units))
        zero = zero if by_column else zero[:, 0]
        return [f(*each, low=0.002, high=0.01), zero.astype(np.int8 if kind is i8 else np.uint8)]

    x = f(steps, batch, wide)
    x[-1] *= 2  # which counts only where a row has so many steps
    case("DynamicQuantizeLSTM",
         [x, kind(d, wide, 4 * units), kind(d, units, 4 * units), f(d, 8 * units) if bias else None,
          np.array(ends, np.int32) if ends else None, f(d, batch, units) * 2 if initial else None,
          f(d, batch, units) if initial else None, f(d, 3 * units) if peephole else None] + parameters() + parameters(),
         {"hidden_size": units, "direction": direction, **more}, outputs=(0, 1, 2), constants=(1, 2, 8, 9, 10, 11),
         tolerance=1e-5)


# A state may lie so near the middle between two bytes that another order of sums gives the other byte, and all further
# steps differ. In none of these cases it does.
for direction in ("forward", "reverse", "bidirectional"):
    for kind in (i8, u8):
        quantised_lstm(5, 3, 4, 6, direction, kind, initial=True)
        quantised_lstm(9, 3, 4, 6, direction, kind, by_column=True, ends=(5, 2, 7), initial=True, peephole=True)
    quantised_lstm(12, 1, 9, 17, direction, bias=False)
    quantised_lstm(4, 20, 5, 8, direction, u8, ends=[1 + i % 4 for i in range(20)])
quantised_lstm(9, 3, 4, 6, ends=(5, 0, 7), initial=True)
quantised_lstm(5, 3, 4, 6, "bidirectional", initial=True, peephole=True, clip=0.4, input_forget=1)
quantised_lstm(5, 2, 4, 6, "bidirectional", u8, activations=["HardSigmoid", "ScaledTanh", "Softsign", "Sigmoid", "Tanh", "Tanh"],
               activation_alpha=[0.3, 0.8], activation_beta=[0.4, 0.5])
quantised_lstm(3, 2, 4, 6, ends=(0, 0))
for kind, zero in [(u8, np.uint8), (i8, np.int8)]:
    case("QGemm", [kind(3, 6), number(0.05), number(7, zero), kind(6, 5), number(0.02), number(5, zero), ints(5, low=-500,
         high=500, dtype=np.int32), number(0.6), number(11, zero)], steps=1)
    case("QGemm", [kind(6, 3), number(0.05), number(7, zero), kind(5, 6), f(5, low=0.01, high=0.03), kind(5)],
         {"transA": 1, "transB": 1, "alpha": 0.5}, tolerance=1e-5)

# --- 8-bit tensors between real functions
for kind, zero in [(u8, np.uint8), (i8, np.int8)]:
    scale = lambda: number(random.uniform(0.02, 0.05))
    at = lambda: number(random.integers(5, 20), zero)
    for op in ("QLinearAdd", "QLinearMul"):
        case(op, [kind(2, 3, 4), scale(), at(), kind(3, 1), scale(), at(), number(0.09), at()], steps=1)
        inputs = [kind(2, 3, 4), scale(), None, kind(4), scale(), None, number(0.2)]
        zeros = [number(0, zero) if i in (2, 5) else x for i, x in enumerate(inputs)] + [number(0, zero)]
        case(op, inputs, steps=1, expected=result_of(op, zeros, {}))
    case("QLinearSigmoid", [kind(3, 9), scale(), at(), number(1 / 256), number(0 if zero == np.uint8 else -128, zero)], steps=1,
         constants=(1, 2, 3, 4))
    case("QLinearLeakyRelu", [kind(3, 9), scale(), at(), scale(), at()], {"alpha": 0.2}, steps=1, constants=(1, 2, 3, 4))
    case("QLinearSoftmax", [kind(2, 3, 9), scale(), at(), number(1 / 256), number(0 if zero == np.uint8 else -128, zero)],
         {"opset": 13, "axis": -1}, steps=1, constants=(1, 2, 3, 4))
    case("QLinearSoftmax", [kind(2, 3, 4), scale(), at(), number(1 / 256), number(0 if zero == np.uint8 else -128, zero)],
         {"opset": 11, "axis": 1}, steps=1, constants=(1, 2, 3, 4))
    for last in (0, 1):
        shape = (1, 6, 7, 3) if last else (1, 3, 6, 7)
        case("QLinearGlobalAveragePool", [kind(*shape), scale(), at(), scale(), at()], {"channels_last": last}, steps=1)
        case("QLinearAveragePool", [kind(*shape), scale(), at(), scale(), at()], {"kernel_shape": [3, 2], "strides": [2, 2],
             "pads": [1, 0, 1, 1], "channels_last": last}, steps=1)
    case("QLinearAveragePool", [kind(1, 3, 6, 7), scale(), at(), scale(), at()], {"kernel_shape": [3, 3], "strides": [2, 2],
         "pads": [1, 1, 1, 1], "count_include_pad": 1, "ceil_mode": 1}, steps=1)
    case("QLinearConcat", [number(0.04), at(), kind(2, 3), number(0.04), at(), kind(2, 2), scale(), at()], {"axis": 1}, steps=1)
    case("NhwcMaxPool", [kind(1, 6, 7, 3)], {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 1, 0, 0]})
case("QuantizeLinear", [f(3, 9) * 5, number(0.02), number(300, np.uint16)])
case("DequantizeLinear", [ints(3, 9, low=-900, high=900, dtype=np.int16), f(9, low=0.01, high=0.1), ints(9, low=-9, high=9, dtype=np.int16)],
     {"axis": 1})

# --- weights of few bits
for bits, block, n, k, zeros, more in [(4, 32, 3, 64, None, {}), (4, 16, 3, 40, "packed", {}), (4, 32, 2, 96, "packed", {}),
                                       (4, 32, 3, 64, "real", {}), (8, 32, 3, 40, None, {}), (2, 16, 3, 40, "packed", {}),
                                       (8, 16, 2, 48, "packed", {"accuracy_level": 1})]:
    blocks = -(-k // block)
    inputs = [f(2, 3, k), u8(n, blocks, block * bits // 8), f(n, blocks, low=0.01, high=0.05), None, None, None]
    if zeros:
        inputs[3] = u8(n, -(-blocks * bits // 8)) if zeros == "packed" else f(n, blocks, low=5, high=10)
    if n == 3:
        inputs[5] = f(n)
    case("MatMulNBits", inputs, {"bits": bits, "block_size": block, "N": n, "K": k, **more}, constants=(1, 2) + ((3,) if zeros else ()),
         tolerance=1e-5)

# --- others
for shape, other, axis in [((2, 3, 4, 5), (2, 1, 1, 5), 3), ((2, 3, 4, 5), (4, 5), 3), ((2, 3, 4), (1, 3, 4), 1)]:
    x, y = f(*shape), f(*other)
    e = np.exp((x + y).astype(np.float64))
    whole = e / e.sum(axis=tuple(range(axis, len(shape))), keepdims=True)
    case("BiasSoftmax", [x, y], {"axis": axis, "is_inner_broadcast": int(len(other) == len(shape))},
         expected=[whole.astype(np.float32)])
for metric in ("sqeuclidean", "euclidean"):
    case("CDist", [f(4, 6), f(3, 6)], {"metric": metric}, tolerance=1e-5)
case("Trilu", [f(2, 4, 5)])
case("Trilu", [f(4, 5), number(-1, np.int64)], {"upper": 0}, constants=(1,))
for shape in ((4, 4), (2, 3, 3)):
    case("Inverse", [f(*shape)], tolerance=1e-5)

# --- causal, with other numbers of keys than of queries
for queries, keys, before in ((4, 2, 0), (2, 4, 0), (3, 4, 2), (3, 1, 2)):
    inputs = [f(2, queries, 8), f(2, keys, 8), f(2, keys, 8)]
    if before:
        inputs += [None, None, None, f(2, 2, before, 4), f(2, 2, before, 4)]
    case("MultiHeadAttention", inputs, {"num_heads": 2, "unidirectional": 1}, outputs=(0, 1, 2) if before else (0,))

FILE.parent.mkdir(exist_ok=True)
save(FILE, tensors, metadata)
print(len(metadata), "cases,", FILE.stat().st_size, "bytes")
