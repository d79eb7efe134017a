# SPDX-License-Identifier: MIT
"""Quantised elements of 16 and 32 bits whose scale is a float of 16 bits, which does not hold them. They draw from random
numbers of their own."""
import numpy as np

from cases import case

random = np.random.default_rng(20261124)
half = lambda *shape: (random.standard_normal(shape) * 9).astype(np.float16)
scale = lambda *shape: random.uniform(0.1, 1, shape).astype(np.float16)
whole = lambda kind, *shape: random.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)

for kind in (np.int16, np.uint16):
    case("quantization", "QuantizeLinear", [half(3, 7), scale(), whole(kind)])
    case("quantization", "QuantizeLinear", [half(3, 7), scale(3), whole(kind, 3)], {"axis": 0})
    case("quantization", "QuantizeLinear", [half(2, 9), scale(2, 3), whole(kind, 2, 3)], {"axis": 1, "block_size": 3})
    case("quantization", "DequantizeLinear", [whole(kind, 3, 7), scale(), whole(kind)])
    case("quantization", "DequantizeLinear", [whole(kind, 3, 7), scale(7) / 64, whole(kind, 7)], {"axis": 1})
case("quantization", "DequantizeLinear", [random.integers(-90000, 90000, (3, 7)).astype(np.int32), scale(3) / 64], {"axis": 0})
