# SPDX-License-Identifier: MIT
"""Cases of what BatchNormalization is made of, which ONNX has no operators for: numpy computes them."""
import numpy as np

from cases import case, f

for shape in [(5,), (3, 1, 1), ()]:
    scale, variance = f(*shape), f(*shape, low=0.2, high=2)
    wide = scale.astype(np.float64) / np.sqrt(variance.astype(np.float64) + 0.01)
    case("normalization", "NormalizingScale", [scale, variance], {"epsilon": 0.01}, expected=wide.astype(np.float32))
    bias, mean, factor = f(*shape), f(*shape), f(*shape)
    wide = bias.astype(np.float64) - mean.astype(np.float64) * factor.astype(np.float64)
    case("normalization", "NormalizingShift", [bias, mean, factor], expected=wide.astype(np.float32))
