# SPDX-License-Identifier: MIT
"""Quantisation, losses, spectra, samples of pictures, Einsum and recurrent layers."""
import numpy as np

from cases import case, f, i64, ints, node_test, node_tests, run_onnx

# --- quantization
node_tests("quantization", "quantizelinear", lambda a, i: {"axis": a.get("axis", 1)})
node_tests("quantization", "dequantizelinear", lambda a, i: {"axis": a.get("axis", 1)})
for output in range(3):
    node_tests("quantization", "dynamicquantizelinear", lambda a, i: {"output": output}, output)
node_tests("quantization", "matmulinteger", lambda a, i: {})
node_tests("quantization", "qlinearmatmul", lambda a, i: {})
node_tests("quantization", "basic_convinteger", lambda a, i: {k: v for k, v in a.items()})
node_tests("quantization", "convinteger", lambda a, i: {k: v for k, v in a.items()})
node_tests("quantization", "qlinearconv", lambda a, i: {k: v for k, v in a.items()})
u8 = lambda *shape: ints(*shape, low=0, high=256, dtype=np.uint8)
i8 = lambda *shape: ints(*shape, low=-128, high=128, dtype=np.int8)
scale = lambda *shape: f(*shape, low=0.01, high=0.1)
case("quantization", "QuantizeLinear", [f(3, 40) * 5, scale(3), i8(3)], {"axis": 0})
case("quantization", "QuantizeLinear", [f(3, 40), scale()])
case("quantization", "DequantizeLinear", [i8(3, 4, 2), scale(4), i8(4)], {"axis": 1})
case("quantization", "DequantizeLinear", [ints(3, 4, dtype=np.int32), scale()])
case("quantization", "MatMulInteger", [u8(3, 7), i8(7, 4), u8(), i8(4)])
case("quantization", "MatMulInteger", [u8(2, 3, 7), u8(7, 4)])
case("quantization", "ConvInteger", [u8(1, 2, 6, 5), u8(3, 2, 3, 3), u8()], {"pads": [1, 1, 0, 2], "strides": [2, 1]})
case("quantization", "ConvInteger", [u8(1, 4, 6, 5), u8(2, 2, 3, 3), u8(), u8()], {"group": 2, "dilations": [2, 1]})
for w, zero in [(i8, np.zeros(3, np.int8)), (u8, np.array(117, np.uint8))]:
    scales = scale(3) if zero.shape else scale()
    case("quantization", "QLinearConv", [u8(1, 2, 6, 5), scale(), u8(), w(3, 2, 3, 3), scales, zero, np.array(0.9, np.float32), u8(), ints(3, low=-900, high=900, dtype=np.int32)],
         {"pads": [1, 1, 1, 1]})
case("quantization", "QLinearMatMul", [u8(3, 7), scale(), u8(), u8(7, 4), scale(), u8(), np.array(0.4, np.float32), u8()])

# --- local_normalization
node_tests("local_normalization", "lrn", lambda a, i: {k: a.get(k) for k in ("size", "alpha", "beta", "bias")})
case("local_normalization", "LRN", [f(2, 7, 3, 2)], {"size": 5, "alpha": 0.3, "beta": 0.6, "bias": 1.5})
for p, axis in [(1, -1), (2, 0), (2, 1)]:
    case("local_normalization", "LpNormalization", [f(3, 4, 2)], {"p": p, "axis": axis})
case("local_normalization", "MeanVarianceNormalization", [f(3, 3, 4, 2)])
case("local_normalization", "MeanVarianceNormalization", [f(3, 3, 4)], {"axes": [-1, 0]})
for output in range(3):
    for name in ["batchnorm_example_training_mode", "batchnorm_epsilon_training_mode"]:
        node_test("local_normalization", f"test_{name}", lambda a, i: {"operator": "BatchNormalization.Training", "epsilon": a.get("epsilon"),
                  "momentum": a.get("momentum"), "output": output}, output)

# --- lp_pooling
for attributes in [{"kernel_shape": [2, 2]}, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}, {"kernel_shape": [3, 2], "p": 1},
                   {"kernel_shape": [2, 2], "p": 3}]:
    case("lp_pooling", "LpPool", [f(1, 2, 6, 7)], attributes)
for p in [1, 2, 3]:
    case("lp_pooling", "GlobalLpPool", [f(2, 3, 4, 5)], {"p": p})
for attributes in [{"kernel_shape": [2, 2]}, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}, {"kernel_shape": [2, 3], "dilations": [2, 1]},
                   {"kernel_shape": [2, 2], "strides": [2, 2], "storage_order": 1}]:
    x = f(2, 2, 6, 7)
    case("lp_pooling", "MaxPool.Indices", [x], attributes, expected=run_onnx("MaxPool", [x], attributes, 1, 2))
for name in ["with", "without"]:
    node_test("lp_pooling", f"test_maxunpool_export_{name}_output_shape", lambda a, i: ({**a, "output_shape": [int(v) for v in i[2]]} if len(i) > 2 else a, i[:2]))

# --- losses
LOSS = ["none", "mean", "sum"]
loss = lambda a, i: {"ignore_index": a.get("ignore_index"), "reduction": LOSS.index(a.get("reduction", b"mean").decode())}
node_tests("losses", "nllloss", loss, but=[f"nllloss_NCd1d2d3{x}" for x in ("_none_no_weight_negative_ii", "_sum_weight_high_ii", "d4d5_mean_weight",
           "d4d5_none_no_weight")])  # large
for name in ["sce_mean", "sce_mean_weight", "sce_sum", "sce_none_weights", "sce_mean_weight_ii_3d", "sce_NCd1_mean_weight_negative_ii", "sce_mean_no_weight_ii_4d"]:
    node_test("losses", f"test_{name}", loss)
node_test("losses", "test_sce_mean_log_prob", lambda a, i: {**loss(a, i), "output": 1}, 1)

# --- spectral
node_test("spectral", "test_dft", lambda a, i: {"axis": a.get("axis", 1), "onesided": a.get("onesided"), "inverse": a.get("inverse")})
node_test("spectral", "test_dft_axis", lambda a, i: {"axis": a.get("axis", 1), "onesided": a.get("onesided"), "inverse": a.get("inverse")})
node_test("spectral", "test_dft_inverse", lambda a, i: {"axis": a.get("axis", 1), "onesided": a.get("onesided"), "inverse": a.get("inverse")})
x = f(2, 7, 3, 1)
case("spectral", "DFT", [x], {"axis": 1, "onesided": True}, expected=np.stack([t(np.fft.rfft(x[..., 0], axis=1)) for t in (np.real, np.imag)], -1).astype(np.float32))
case("spectral", "DFT", [x], {"axis": 2, "dft_length": 5}, expected=np.stack([t(np.fft.fft(x[..., 0], 5, axis=2)) for t in (np.real, np.imag)], -1).astype(np.float32))
x = f(2, 6, 2)
case("spectral", "DFT", [x], {"axis": 1, "dft_length": 4, "inverse": True},
     expected=np.stack([t(np.fft.ifft(x[..., 0] + 1j * x[..., 1], 4, axis=1)) for t in (np.real, np.imag)], -1).astype(np.float32))
for name in ["stft", "stft_with_window"]:
    node_test("spectral", f"test_{name}", lambda a, i: ({"frame_step": int(i[1]), "frame_length": int(i[3]) if len(i) > 3 and i[3] is not None else len(i[2])},
              [i[0]] + [x for x in i[2:3] if x is not None]))
for op in ["HannWindow", "HammingWindow", "BlackmanWindow"]:
    for periodic in (True, False):
        case("spectral", op, [], {"size": 10, "periodic": periodic}, {"periodic": int(periodic)}, [np.array(10, np.int64)])
node_test("spectral", "test_melweightmatrix", lambda a, i: ({"num_mel_bins": int(i[0]), "dft_length": int(i[1]), "sample_rate": int(i[2]),
          "lower_edge_hertz": float(i[3]), "upper_edge_hertz": float(i[4])}, []))

# --- grid_sample
grid_mode, grid_padding = [b"bilinear", b"nearest", b"bicubic"], [b"zeros", b"border", b"reflection"]
for m, mode in enumerate(["linear", "nearest", "cubic"]):
    for p, padding in enumerate(["zeros", "border", "reflection"]):
        for align in (0, 1):
            case("grid_sample", "GridSample", [f(2, 2, 4, 5), f(2, 3, 4, 2, low=-1.6, high=1.6)], {"mode": m, "padding_mode": p, "align_corners": align},
                 {"mode": mode, "padding_mode": padding, "align_corners": align})
node_tests("grid_sample", "gridsample", lambda a, i: {"mode": grid_mode.index(a.get("mode", b"bilinear")), "padding_mode": grid_padding.index(a.get("padding_mode", b"zeros")),
           "align_corners": a.get("align_corners")}, but=["gridsample_bicubic"])  # four digits only

# --- roi_align
ROI = ["half_pixel", "output_half_pixel"]
for c, name in enumerate(ROI):
    for ratio in (0, 2):
        rois = np.array([[0, 0, 3, 4], [1.5, 2, 4.5, 3], [-1, 0.3, 9, 5]], np.float32)
        case("roi_align", "RoiAlign", [f(2, 2, 6, 7), rois, i64(0, 1, 1)], {"coordinate_transformation_mode": c, "output_height": 2, "output_width": 3,
             "sampling_ratio": ratio, "spatial_scale": 0.8}, {"coordinate_transformation_mode": name, "output_height": 2, "output_width": 3,
             "sampling_ratio": ratio, "spatial_scale": 0.8})

# --- determinant
for shape in [(3, 3), (2, 3, 4, 4), (1, 1), (2, 2)]:
    case("determinant", "Det", [f(*shape)])
case("determinant", "Det", [np.array([[0, 2, 1], [1, 0, 0], [3, 1, 0]], np.float32)])
case("determinant", "Det", [np.ones((3, 3), np.float32)])

# --- einsum
for equation, shapes in [("ij,jk->ik", [(3, 4), (4, 5)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
                         ("ij->ji", [(3, 4)]), ("ij->i", [(3, 4)]), ("ij->", [(3, 4)]), ("i,i->", [(4,), (4,)]), ("i,j->ij", [(3,), (4,)]),
                         ("...ii->...i", [(2, 3, 3)]), ("ii", [(3, 3)]), ("iji->j", [(3, 2, 3)]), ("...ij,...jk", [(2, 1, 3, 4), (5, 4, 2)]),
                         ("ab,bc,cd->ad", [(2, 3), (3, 4), (4, 5)]), ("ij,ij->ij", [(3, 4), (3, 4)]), ("bnqd,qkd->bnqk", [(2, 3, 4, 5), (4, 6, 5)]),
                         ("ijk,k", [(2, 3, 4), (4,)]), ("i...,ij->j...", [(3, 2), (3, 4)]), ("abc,cde,ae->bd", [(2, 3, 4), (4, 5, 6), (2, 6)]),
                         ("b c h w , b c -> b h w", [(2, 3, 4, 5), (2, 3)]), ("ij->ij", [(3, 4)])]:
    case("einsum", "Einsum", [f(*s) for s in shapes], {"equation": [ord(c) for c in equation]}, {"equation": equation})
case("einsum", "Einsum", [ints(3, 4), ints(4, 2)], {"equation": [ord(c) for c in "ij,jk"]}, {"equation": "ij,jk"})

# --- recurrent
DIRECTIONS = ["forward", "reverse", "bidirectional"]
ACTIVATIONS = ["Relu", "Tanh", "Sigmoid", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu", "Softsign", "Softplus"]


def recurrent_case(op, gates, direction, lengths, initial, bias=True, peephole=False, **more):
    """One layer, all its outputs."""
    d, steps, batch, n, h = 2 if direction == 2 else 1, 5, 3, 4, 3
    inputs = [f(steps, batch, n), f(d, gates * h, n), f(d, gates * h, h), f(d, 2 * gates * h) if bias else None,
              np.array([5, 2, 4], np.int32) if lengths else None, f(d, batch, h) if initial else None]
    if op == "LSTM":
        inputs += [f(d, batch, h) if initial else None, f(d, 3 * h) if peephole else None]
    while inputs[-1] is None:
        inputs.pop()
    onnx_more = dict(more)
    if "activations" in more:
        more["activations"] = [ACTIVATIONS.index(a) for a in more["activations"]]
    count = 3 if op == "LSTM" else 2
    for output in range(count):
        case("recurrent", op, inputs, {"hidden_size": h, "direction": direction, "output": output, **more},
             {"hidden_size": h, "direction": DIRECTIONS[direction], **onnx_more}, output=output, outputs=count)


for op, gates in [("RNN", 1), ("GRU", 3), ("LSTM", 4)]:
    recurrent_case(op, gates, 0, False, False, False)
    recurrent_case(op, gates, 0, True, True)
    recurrent_case(op, gates, 1, True, False)
    recurrent_case(op, gates, 2, True, True)
    recurrent_case(op, gates, 2, False, True, clip=0.6)
recurrent_case("GRU", 3, 2, True, True, linear_before_reset=1)
recurrent_case("LSTM", 4, 2, True, True, peephole=True)
recurrent_case("LSTM", 4, 0, False, True, peephole=True, input_forget=1)
recurrent_case("LSTM", 4, 0, False, True, activations=["HardSigmoid", "ScaledTanh", "Softsign"], activation_alpha=[0.3, 0.9], activation_beta=[0.4, 1.2])
recurrent_case("GRU", 3, 2, False, True, activations=["Sigmoid", "Softsign", "HardSigmoid", "LeakyRelu"], activation_alpha=[0.3, 0.1], activation_beta=[0.4])
recurrent_case("RNN", 1, 0, False, True, activations=["Relu"])
for op in ["simple_rnn", "gru", "lstm"]:
    for output in (0, 1):
        node_test("recurrent", f"test_{op}_batchwise", lambda a, i: {**a, "output": output}, output)
