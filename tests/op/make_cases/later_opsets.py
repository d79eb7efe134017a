# SPDX-License-Identifier: MIT
"""What newer opsets added, and operators that came later."""
import numpy as np

from cases import DTYPES, bools, case, f, i64, ints, node_tests, run_onnx
from composed import ROI, i8, scale
from movement import COORDINATES, NEAREST

# --- resize, with everything that newer opsets added
more_resize = lambda a, i: ({"mode": ["nearest", "linear", "cubic"].index(a["mode"].decode()),
    "coordinate_transformation_mode": (COORDINATES + ["tf_crop_and_resize", "tf_half_pixel_for_nn"]).index(a.get("coordinate_transformation_mode", b"half_pixel").decode()),
    "nearest_mode": NEAREST.index(a.get("nearest_mode", b"round_prefer_floor").decode()), "cubic_coeff_a": a.get("cubic_coeff_a"),
    "exclude_outside": a.get("exclude_outside"), "extrapolation_value": a.get("extrapolation_value"),
    "roi": None if len(i) < 2 or i[1] is None or not i[1].size else [float(v) for v in i[1]],
    "scales": None if len(i) < 3 or i[2] is None or not i[2].size else [float(v) for v in i[2]],
    "sizes": None if len(i) < 4 or i[3] is None else [int(v) for v in i[3]]}, i[:1])
node_tests("resize", "resize", more_resize, but=["resize_downsample_sizes_nearest_tf_half_pixel_for_nn",
           "resize_downsample_scales_cubic_align_corners", "resize_downsample_scales_linear_align_corners"])  # ONNX Runtime differs there
for exclude in (0, 1):
    for c, name in enumerate(COORDINATES):
        case("resize", "Resize", [f(1, 2, 5, 6)], {"scales": [1.0, 1.0, 1.7, 0.6], "mode": 2, "coordinate_transformation_mode": c, "exclude_outside": exclude,
             "cubic_coeff_a": -0.6}, {"mode": "cubic", "coordinate_transformation_mode": name, "exclude_outside": exclude, "cubic_coeff_a": -0.6},
             [None, np.array([1, 1, 1.7, 0.6], np.float32)])

# --- pad, with what newer opsets added
x = f(3, 4)
case("pad", "Pad", [x, np.array(1.5, np.float32)], {"pads": [1, 1, 0, 2]}, expected=np.pad(x, [(1, 0), (1, 2)], constant_values=1.5))
case("pad", "Pad", [x], {"pads": [2, 5, 1, 9], "mode": 3}, expected=np.pad(x, [(2, 1), (5, 9)], mode="wrap"))

# --- powers of integers
for dtype in [np.int32, np.int64]:
    case("arithmetic", "Pow", [ints(12, low=-4, high=5, dtype=dtype), ints(12, low=0, high=5, dtype=dtype)])
case("arithmetic", "Max", [ints(5, low=0, high=2**60, dtype=np.uint64) * np.uint64(13), ints(5, low=0, high=2**60, dtype=np.uint64) * np.uint64(11)])
case("arithmetic", "Mod", [ints(9, low=0, high=200, dtype=np.uint8), ints(9, low=1, high=9, dtype=np.uint8)])
case("arithmetic", "Add", [ints(9, low=0, high=250, dtype=np.uint8), ints(9, low=0, high=250, dtype=np.uint8)])

# --- combine and dims, which ONNX does not have: If between results that are both there, and extents as numbers
for condition in [False, True]:
    for shape, taken in [((), np.array(condition)), ((2, 3), np.array(condition)), ((4,), np.array([condition]))]:
        a, b = f(*shape), f(*shape)
        case("combine", "If", [taken, a, b], expected=a if condition else b)
whole = ints(5)
case("combine", "If", [np.array(True), whole, ints(5)], expected=whole)
case("dims", "Dims", [], {"values": [3, 0, 7]}, expected=i64(3, 0, 7))
case("dims", "Dims", [], {"values": [5]}, expected=i64(5))
x = np.zeros((2, 3, 4), np.float32)
for start, end in ((0, 8), (1, 8), (-2, -1), (2, 1), (-9, 2)):
    case("dims", "Shape", [x], {"start": start, "end": end}, {"start": start, "end": end})

# --- text_features
def tf_idf(a, i):
    ours = {k: a[k] for k in ("min_gram_length", "max_gram_length", "max_skip_count")}
    pool = [np.array(a[k], np.int64) for k in ("ngram_counts", "ngram_indexes", "pool_int64s")]
    weights = [np.array(a["weights"], np.float32)] if "weights" in a else []
    return {**ours, "size": max(a["ngram_indexes"]) + 1, "mode": ["TF", "IDF", "TFIDF"].index(a["mode"].decode())}, i + pool + weights


node_tests("text_features", "tfidfvectorizer", tf_idf)
pool = {"ngram_counts": [0, 4], "ngram_indexes": [0, 1, 2, 3, 4, 5, 6], "pool_int64s": [2, 3, 5, 4, 5, 6, 7, 8, 6, 7]}
weights = [2.0, 5.0, 3.0, 0.5, 1.5, 4.0, 0.25]
for m, mode in enumerate(["TF", "IDF", "TFIDF"]):
    x = ints(2, 12, low=2, high=9, dtype=np.int32)
    attributes = {"min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 2}
    case("text_features", "TfIdfVectorizer", [x] + [np.array(v, np.int64) for v in pool.values()] + [np.array(weights, np.float32)],
         {**attributes, "size": 7, "mode": m}, expected=run_onnx("TfIdfVectorizer", [x], {**attributes, **pool, "weights": weights, "mode": mode}, 0, 1))

# --- image_columns
for image, block, more in [([5, 5], [1, 5], {}), ([5, 6], [2, 3], {"strides": [2, 1]}), ([6, 5], [2, 2], {"dilations": [2, 1], "pads": [1, 0, 0, 1]}), ([7], [3], {})]:
    windows = [(n + sum(more.get("pads", [0] * 2 * len(image))[d::len(image)]) - (block[d] - 1) * more.get("dilations", [1] * len(image))[d] - 1)
               // more.get("strides", [1] * len(image))[d] + 1 for d, n in enumerate(image)]
    case("image_columns", "Col2Im", [f(2, 3 * int(np.prod(block)), int(np.prod(windows)))], {"image_shape": image, "block_shape": block, **more}, more,
         [i64(*image), i64(*block)])
for align in (0, 1):
    case("image_columns", "AffineGrid", [f(2, 2, 3)], {"size": [2, 3, 4, 5], "align_corners": align}, {"align_corners": align}, [i64(2, 3, 4, 5)])
    case("image_columns", "AffineGrid", [f(2, 3, 4)], {"size": [2, 3, 4, 5, 2], "align_corners": align}, {"align_corners": align}, [i64(2, 3, 4, 5, 2)])
for target, axes in [([10, 7, 3], None), ([4, 8], [1, 2]), ([9, 3], [0, -1]), ([20, 8, 3], None)]:
    case("image_columns", "CenterCropPad", [f(20, 8, 3)], {"target": target, **({"axes": axes} if axes else {})}, {"axes": axes} if axes else {}, [i64(*target)])

# --- deformable_convolution
for group, offset_group, more in [(1, 1, {}), (2, 2, {"pads": [1, 1, 1, 1], "strides": [2, 1]}), (1, 2, {"dilations": [1, 2], "pads": [0, 1, 1, 0]})]:
    for bias, mask in [(False, False), (True, False), (True, True), (False, True)]:
        strides, dilations, pads = more.get("strides", [1, 1]), more.get("dilations", [1, 1]), more.get("pads", [0] * 4)
        out = [(n + pads[d] + pads[d + 2] - dilations[d] - 1) // strides[d] + 1 for d, n in enumerate((5, 6))]
        inputs = [f(2, 4, 5, 6), f(6, 4 // group, 2, 2), f(2, offset_group * 8, *out), f(6) if bias else None, f(2, offset_group * 4, *out) if mask else None]
        while inputs[-1] is None:
            inputs.pop()
        attributes = {"group": group, "offset_group": offset_group, "kernel_shape": [2, 2], **more}
        case("deformable_convolution", "DeformConv", inputs, attributes)

# --- resize with antialias, volumes sampled, truth values reduced
for c, name in enumerate(COORDINATES):
    for mode, mode_name in [(1, "linear"), (2, "cubic")]:
        for scales in [[1, 1, 0.6, 0.4], [1, 1, 1.7, 0.45]]:
            case("resize", "Resize", [f(1, 2, 9, 8)], {"scales": [float(s) for s in scales], "mode": mode, "coordinate_transformation_mode": c, "antialias": 1},
                 {"mode": mode_name, "coordinate_transformation_mode": name, "antialias": 1}, [None, np.array(scales, np.float32)])
for m, mode in [(0, "linear"), (1, "nearest")]:
    for p, padding in enumerate(["zeros", "border", "reflection"]):
        case("grid_sample", "GridSample", [f(2, 2, 3, 4, 5), f(2, 3, 2, 4, 3, low=-1.4, high=1.4)], {"mode": m, "padding_mode": p, "align_corners": p % 2},
             {"mode": mode, "padding_mode": padding, "align_corners": p % 2})
for op in ["ReduceMax", "ReduceMin"]:
    case("reduction", op, [bools(3, 4)], {"axes": [1]}, {}, [i64(1)])

# --- quantised by blocks
for shape, axis, block in [((3, 8), 1, 4), ((6, 2, 3), 0, 2), ((2, 9), -1, 3)]:
    blocks = list(shape)
    blocks[axis] = -(-shape[axis] // block)
    repeat = lambda p: np.repeat(p, block, axis=axis)
    x, s, z = f(*shape) * 3, scale(*blocks), i8(*blocks)
    q = np.clip(np.rint(x / repeat(s)) + repeat(z), -128, 127).astype(np.int8)
    case("quantization", "QuantizeLinear", [x, s, z], {"axis": axis, "block_size": block}, expected=q)
    case("quantization", "DequantizeLinear", [q, s, z], {"axis": axis, "block_size": block},
         expected=((q.astype(np.int32) - repeat(z).astype(np.int32)).astype(np.float32) * repeat(s)).astype(np.float32))

# --- signed shifts, remainders of reals, blocks in the other order, zero norms, halves of transforms
for dtype in [np.int8, np.int16, np.int32, np.int64]:
    width = 8 * np.dtype(dtype).itemsize
    a = np.array([-8, -1, 100, np.iinfo(dtype).min, -8, 4, -8, 4, np.iinfo(dtype).max, 0], dtype)
    b = np.array([1, 1, 3, 1, width, width + 1, -1, -1, width - 2, 2], dtype)
    inside = (b >= 0) & (b < width)
    case("bits", "BitShift", [a, b], {"direction": 1}, expected=np.where(inside, a >> np.where(inside, b, 0), np.where(a < 0, -1, 0)).astype(dtype))
    case("bits", "BitShift", [a, b], {"direction": 0}, expected=np.where(inside, a << np.where(inside, b, 0), 0).astype(dtype))
a = np.array([0, -0.0, 0, -0.0, -3, 3, -1, 1, np.inf, -np.inf, 1, 1, np.nan, 1, -4.3, 7.2, 5, 4.3, -7.2, 8, 6, -6], np.float32)
b = np.array([-2, 2, 2, -2, np.inf, np.inf, -np.inf, -np.inf, 2, 2, 0, -0.0, 2, np.nan, 2.1, -3.4, 8, -2.1, 3.4, 5, -3, 3], np.float32)
for dtype in [np.float32, np.float64]:
    with np.errstate(invalid="ignore"):
        case("arithmetic", "Mod", [a.astype(dtype), b.astype(dtype)], {"fmod": False}, expected=np.mod(a.astype(dtype), b.astype(dtype)))
a, b = f(4, 5, low=-9, high=9), f(5, low=-3, high=3)
case("arithmetic", "Mod", [a, b], {"fmod": False}, expected=np.mod(a, b))
for block in (2, 3):
    x = f(2, 3, 2 * block, 3 * block)
    y = x.reshape(2, 3, 2, block, 3, block).transpose(0, 1, 3, 5, 2, 4).reshape(2, 3 * block * block, 2, 3)
    case("block_rearrangement", "SpaceToDepth", [x], {"blocksize": block, "mode": 1}, expected=y)
x = f(3, 4, 2)
x[1, :, 0] = 0
x[:, 2, :] = 0
for p in (1, 2):
    for axis in (1, -1):
        case("local_normalization", "LpNormalization", [x], {"p": p, "axis": axis})
for shape, axis, length in [((2, 5, 3), 1, None), ((2, 5, 3), 1, 9), ((6, 2), 0, 7), ((2, 4, 3), 2, 8)]:
    x = f(*shape, 2)
    y = np.fft.irfft(x[..., 0] + 1j * x[..., 1], length, axis=axis)[..., None].astype(np.float32)
    case("spectral", "DFT", [x], {"axis": axis, "inverse": True, "onesided": True, **({"dft_length": length} if length else {})}, expected=y)

# --- the greatest of samples
for c, name in enumerate(ROI):
    for ratio in (0, 2):
        rois = np.array([[0, 0, 3, 4], [1.5, 2, 4.5, 3], [-1, 0.3, 9, 5]], np.float32)
        common = {"output_height": 2, "output_width": 3, "sampling_ratio": ratio, "spatial_scale": 0.8}
        case("roi_align", "RoiAlign", [f(2, 2, 6, 7), rois, i64(0, 1, 1)], {"coordinate_transformation_mode": c, "mode": 1, **common},
             {"coordinate_transformation_mode": name, "mode": "max", **common})

# --- products up to each element, bits as numbers
for axis in (0, 1, -1):
    for exclusive, reverse in [(False, False), (True, False), (False, True), (True, True)]:
        x = f(3, 4, 2)
        y = np.flip(x, axis) if reverse else x
        y = np.cumprod(y, axis=axis)
        if exclusive:
            y = np.roll(y, 1, axis=axis)
            y[tuple(slice(0, 1) if d == axis % 3 else slice(None) for d in range(3))] = 1
        y = np.flip(y, axis) if reverse else y
        case("cumulative", "CumProd", [x], {"axis": axis, "exclusive": exclusive, "reverse": reverse}, expected=y)
for dtype in [np.int32, np.int64, np.uint32]:
    x = ints(30, low=1, high=10, dtype=dtype)
    case("cumulative", "CumProd", [x], {"axis": 0}, expected=np.cumprod(x, dtype=dtype))
for real, name, whole in [(np.float32, "F32", np.int32), (np.float64, "F64", np.int64)]:
    x = np.array([0, -0.0, 1, -1, 3.14, 1e-40, np.inf, -np.inf, np.finfo(real).max], real)
    case("bit_cast", "BitCast.BitsOfReal", [x], {"from": DTYPES.index(name)}, expected=x.view(whole))
    case("bit_cast", "BitCast.RealOfBits", [x.view(whole)], {"to": DTYPES.index(name)}, expected=x)
