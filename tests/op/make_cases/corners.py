# SPDX-License-Identifier: MIT
"""Corners of operators: policies, lowest numbers, infinities, empty tensors."""
import numpy as np

from cases import case, f, i64, ints
from movement import COORDINATES

# --- resize to sizes that keep the ratio, by one scale; ONNX's reference differs from ONNX Runtime in align_corners and
# tf_crop_and_resize, where it takes the sizes before they are rounded
for k, policy in enumerate(["not_larger", "not_smaller"]):
    for m, mode in enumerate(["nearest", "linear", "cubic"]):
        for c, name in enumerate(COORDINATES):
            wanted = [[7, 8], [3, 5], [9, 3]][(k + m + c) % 3]
            scale = (min, max)[k](np.float32(w) / np.float32(n) for w, n in zip(wanted, (4, 6)))
            sizes = [int(np.floor(scale * np.float32(n) + np.float32(0.5))) for n in (4, 6)]
            case("resize", "Resize", [f(1, 2, 4, 6)], {"scales": [1.0, 1.0, float(scale), float(scale)], "sizes": [1, 2, *sizes], "mode": m,
                 "coordinate_transformation_mode": c}, {"mode": mode, "coordinate_transformation_mode": name, "keep_aspect_ratio_policy": policy,
                 "axes": [2, 3]}, [None, None, i64(*wanted)])
