# SPDX-License-Identifier: MIT
"""Times one operator a model, in several element types, against ONNX Runtime: what is slow of itself shows here, not as
a share of a network. Prints one JSON object a line, the kernels that run element by element among its members.

Sizes are such that ONNX Runtime takes some 50 microseconds and more; 20 of them are spent on calling it from Python, so
what its profiler says its kernels take stands beside.
"""

import json
import subprocess

import numpy
from onnx import TensorProto

from made_graph import OF_ONNX, Graph, ints, number, random, values
from made_model import arguments, built, compared, is_wanted

ROWS, COLUMNS = 512, 768
PICTURE = (1, 32, 96, 96)
CASES = {}


def case(*dtypes, name=None):
    """Registers a function of a graph and an element type, which returns the output's name, for these types."""

    def register(function):
        for dtype in dtypes:
            CASES[f"{name or function.__name__}_{dtype}"] = (function, dtype)
        return function

    return register


# --- element-wise
@case("f32", "f16", "f64", "i32", "i64", "u8")
def add(g, t):
    return g.Add(g.input(t, ROWS, COLUMNS), g.input(t, COLUMNS))


@case("f32", "f16", "i32", "i64")
def equal(g, t):
    return g.Equal(g.input(t, ROWS, COLUMNS), g.input(t, ROWS, COLUMNS)) if t != "f16" else g.Greater(
        g.input(t, ROWS, COLUMNS), g.input(t, ROWS, COLUMNS)
    )


@case("f32", "i64", "u8")
def where(g, t):
    return g.Where(g.input("bool", ROWS, COLUMNS), g.input(t, ROWS, COLUMNS), g.input(t, ROWS, COLUMNS))


@case("f32", "i32", "i64", "i8")
def clip(g, t):
    return g.Clip(g.input(t, ROWS, COLUMNS), number(t, -2), number(t, 2))


@case("f32", "f16")
def gelu(g, t):
    x = g.input(t, ROWS, COLUMNS)
    return g.Mul(x, g.Add(g.Erf(g.Mul(x, number(t, 0.7071))), number(t, 1)))


@case("f32", "i64")
def power(g, t):
    return g.Pow(g.input(t, ROWS, COLUMNS), number(t, 3))


@case("f32", "f16", "i64", "i32", "u8", "bool")
def cast_from(g, t):
    return g.Cast(g.input(t, ROWS, COLUMNS), to=TensorProto.DOUBLE if t == "f32" else TensorProto.FLOAT)


@case("f16", "i64", "i32", "u8", "bool")
def cast_to(g, t):
    x = g.input("f32", ROWS, COLUMNS)
    return g.Cast(g.Abs(x) if t == "u8" else x, to=OF_ONNX[t])


@case("f32", "i64", "i32")
def divide(g, t):
    return g.Div(g.input(t, ROWS, COLUMNS), number(t, 3))


@case("i64", "i32")
def remainder(g, t):
    return g.Mod(g.input(t, ROWS, COLUMNS), number(t, 5))


# --- rows
@case("f32", "f16", "f64", "i64", "i32")
def reduce_sum(g, t):
    x = g.input("f32", ROWS, COLUMNS) if t == "f16" else g.input(t, ROWS, COLUMNS)
    return g.ReduceSum(g.Cast(x, to=OF_ONNX[t]) if t == "f16" else x, ints(1))


@case("f32", "i64", "i32", "u8")
def reduce_max(g, t):
    return g.ReduceMax(g.input(t, ROWS, COLUMNS), ints(1))


@case("f32", "i64")
def reduce_first_axis(g, t):
    return g.ReduceSum(g.input(t, ROWS, COLUMNS), ints(0))


@case("f32", "f16", "i64", "u8")
def arg_max(g, t):
    return g.ArgMax(g.input(t, ROWS, COLUMNS), axis=1)


@case("f32")
def arg_max_first_axis(g, t):
    return g.ArgMax(g.input(t, 16, ROWS, COLUMNS // 16), axis=1)


@case("f32", "f16", "f64")
def softmax(g, t):
    return g.Softmax(g.input(t, ROWS, COLUMNS))


@case("f32", "f16")
def layer_normalization(g, t):
    scale = values(t, COLUMNS)
    return g.LayerNormalization(g.input(t, ROWS, COLUMNS), scale, scale)


def rows_of_a_transformer(name, rows, columns):
    """Hidden states, what is between two products, scores: [rows, columns]."""

    @case("f32", name=f"{name}_softmax")
    def softmax(g, t):
        return g.Softmax(g.input(t, rows, columns))

    @case("f32", name=f"{name}_layer_normalization")
    def layer_normalization(g, t):
        return g.LayerNormalization(g.input(t, rows, columns), values(t, columns), values(t, columns))

    @case("f32", name=f"{name}_gelu")
    def gelu(g, t):
        x = g.input(t, rows, columns)
        y = g.Add(g.Erf(g.Div(x, number(t, 2**0.5))), number(t, 1))
        return g.Mul(g.Mul(x, y), number(t, 0.5))


rows_of_a_transformer("hidden", 128, 768)
rows_of_a_transformer("between", 128, 3072)
rows_of_a_transformer("scores", 12 * 197, 197)


@case("f32", "i64")
def cumulative_sum(g, t):
    return g.CumSum(g.input(t, ROWS, COLUMNS), number("i64", 1))


@case("f32", "i64")
def top_k(g, t):
    return g.TopK(g.input(t, 64, 1000), ints(5), outputs=2)[0]


# --- movement
@case("f32", "f16", "i64", "u8")
def gather_rows(g, t):
    return g.Gather(g.input(t, 4000, COLUMNS), random.integers(0, 4000, 512))


@case("f32", "i64")
def gather_columns(g, t):
    return g.Gather(g.input(t, ROWS, COLUMNS), random.integers(0, COLUMNS, 384), axis=1)


@case("f32", "i64")
def gather_elements(g, t):
    return g.GatherElements(g.input(t, ROWS, COLUMNS), random.integers(0, COLUMNS, (ROWS, COLUMNS)), axis=1)


@case("f32")
def gather_nd(g, t):
    return g.GatherND(g.input(t, 64, 64, 64), random.integers(0, 64, (1024, 2)))


@case("f32", "i64")
def scatter_nd(g, t):
    rows = random.permutation(ROWS)[:128].reshape(-1, 1)
    return g.ScatterND(g.input(t, ROWS, COLUMNS), rows, g.input(t, 128, COLUMNS))


@case("i64")
def one_hot(g, t):
    return g.OneHot(g.input("u8", ROWS), number(t, 256), number("f32", [0, 1]))


@case("f32", "i64", "u8")
def pad(g, t):
    return g.Pad(g.input(t, *PICTURE), ints(0, 0, 3, 3, 0, 0, 3, 3))


@case("f32")
def pad_picture(g, t):
    return g.Pad(g.input(t, 1, 32, 256, 256), ints(0, 0, 1, 1, 0, 0, 1, 1))


@case("f32")
def pad_reflect(g, t):
    return g.Pad(g.input(t, *PICTURE), ints(0, 0, 3, 3, 0, 0, 3, 3), mode="reflect")


@case("f32", "u8")
def slice_steps(g, t):
    return g.Slice(g.input(t, *PICTURE), ints(1, 1), ints(95, 95), ints(2, 3), ints(2, 2))


@case("f32", "f16", "i64", "i32", "u8", "bool")
def transpose(g, t):
    return g.Transpose(g.input(t, *PICTURE), perm=[0, 2, 3, 1])


@case("f32", "f16", "i64", "u8")
def concat(g, t):
    return g.Concat(g.input(t, *PICTURE), g.input(t, 1, 16, 96, 96), g.input(t, *PICTURE), axis=1)


@case("f32", "u8")
def resize_nearest(g, t):
    return g.Resize(g.input(t, *PICTURE), "", number("f32", [1, 1, 2, 2]), mode="nearest")


@case("f32", "u8")
def resize_linear(g, t):
    return g.Resize(g.input(t, *PICTURE), "", number("f32", [1, 1, 2, 2]), mode="linear")


@case("f32")
def resize_cubic(g, t):
    return g.Resize(g.input(t, *PICTURE), "", number("f32", [1, 1, 2, 2]), mode="cubic")


@case("f32", "u8")
def depth_to_space(g, t):
    return g.DepthToSpace(g.input(t, *PICTURE), blocksize=2)


@case("f32", "i64")
def tile(g, t):
    return g.Tile(g.input(t, 64, COLUMNS), ints(8, 1))


# --- products, convolutions, pools
@case("f32", "f16", "f64", "i32", "i64", "u32", "u64")
def product(g, t):
    return g.MatMul(g.input(t, 128, 256), values(t, (256, 256)))


@case("f32", "f64", "i32", "i64")
def product_of_row(g, t):
    return g.MatMul(g.input(t, 1, 768), values(t, (768, 1024)))


@case("f32", "f64")
def product_of_row_and_input(g, t):
    return g.MatMul(g.input(t, 1, 768), g.input(t, 768, 1024))


@case("f32", "f64", "i64")
def product_of_vector(g, t):
    return g.MatMul(g.input(t, 768), values(t, (768, 1024)))


@case("f32", "f16", "f64", "i32", "i64")
def product_by_vector(g, t):
    return g.MatMul(g.input(t, 4, 256, 768), g.input(t, 768))


@case("f32", "f64")
def product_turned(g, t):
    return g.Gemm(g.input(t, 128, 256), g.input(t, 192, 256), values(t, 192), transB=1, alpha=0.5, beta=2.0)


@case("f32", "f64", "i32")
def product_of_inputs(g, t):
    return g.MatMul(g.input(t, 4, 128, 64), g.input(t, 4, 64, 128))


@case("i64", "bool", "u8", "f16")
def product_of_cast(g, t):
    return g.MatMul(g.Cast(g.input(t, 128, 256), to=TensorProto.FLOAT), values("f32", (256, 256)))


@case("f32")
def product_of_symbol(g, t):
    return g.MatMul(g.input(t, 3, 100, 256, symbols={0: "N", 1: "L"}), values(t, (256, 256)))


@case("f32", "f16")
def convolution(g, t):
    return g.Conv(g.input(t, *PICTURE), values(t, (64, 32, 3, 3)), pads=[1, 1, 1, 1])


@case("f32")
def convolution_of_symbol(g, t):
    return g.Conv(g.input(t, *PICTURE, symbols={0: "N", 2: "H", 3: "W"}), values(t, (64, 32, 3, 3)), pads=[1] * 4)


@case("f32")
def convolution_1d_of_symbol(g, t):
    return g.Conv(g.input(t, 2, 64, 1000, symbols={0: "N", 2: "L"}), values(t, (64, 64, 5)), pads=[2, 2])


@case("u8", "f16")
def convolution_of_cast(g, t):
    return g.Conv(g.Cast(g.input(t, *PICTURE), to=TensorProto.FLOAT), values("f32", (64, 32, 3, 3)), pads=[1] * 4)


@case("f32")
def convolution_3d(g, t):
    return g.Conv(g.input(t, 1, 8, 16, 32, 32), values(t, (16, 8, 3, 3, 3)), pads=[1] * 6)


@case("f32")
def convolution_dilated(g, t):
    return g.Conv(g.input(t, *PICTURE), values(t, (64, 32, 3, 3)), pads=[2] * 4, dilations=[2, 2])


@case("f32")
def convolution_grouped(g, t):
    return g.Conv(g.input(t, *PICTURE), values(t, (64, 8, 3, 3)), pads=[1] * 4, group=4)


@case("f32")
def convolution_depthwise(g, t):
    return g.Conv(g.input(t, *PICTURE), values(t, (32, 1, 5, 5)), pads=[2] * 4, group=32)


@case("f32")
def convolution_transposed(g, t):
    return g.ConvTranspose(g.input(t, *PICTURE), values(t, (32, 32, 2, 2)), strides=[2, 2])


@case("f32", "u8", "f16")
def max_pool(g, t):
    return g.MaxPool(g.input(t, *PICTURE), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])


@case("f32", "f16")
def average_pool(g, t):
    return g.AveragePool(g.input(t, *PICTURE), kernel_shape=[3, 3], pads=[1, 1, 1, 1])


@case("f32", "f16")
def global_average_pool(g, t):
    return g.GlobalAveragePool(g.input(t, *PICTURE))


@case("f32")
def spectrum(g, t):
    """A short-time Fourier transform as a convolution."""
    return g.Conv(g.input(t, 2, 1, 16000), values(t, (258, 1, 256)), strides=[128])


def scalar_kernels(tool, path):
    """What `dnnkit check` says of kernels that run element by element."""
    said = subprocess.run([tool, "check", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    return [line.strip() for line in said.splitlines() if "%  " in line]


def main():
    a = arguments(__doc__)
    for name, (function, dtype) in CASES.items():
        if not is_wanted(name, a):
            continue
        g = Graph()
        model = g.model(function(g, dtype))
        try:
            path, _ = built(a, name, model)
            result = compared(a, name, model, g.values, 31)
        except Exception as refused:  # one operator's refusal, by either side, is one line
            result = {"name": name, "error": str(refused).strip()[-300:]}
        else:
            result["scalar"] = scalar_kernels(a.tool, path)
        print(json.dumps(result), flush=True)


main()
