# SPDX-License-Identifier: MIT
"""Operators that move elements, Pad, Gather and Resize."""
import numpy as np

from cases import bools, case, f, i64, ints

# --- movement
x = f(2, 3, 4)
for shape in [[6, 4], [24], [-1, 2], [0, -1], [2, 3, 2, 2], [0, 0, 4], [1, 2, 3, 4, 1]]:
    case("movement", "Reshape", [x], {"shape": shape}, {}, [i64(*shape)])
for axis in [0, 1, 2, 3, -1, -3]:
    case("movement", "Flatten", [x], {"axis": axis})
for axes in [[], [0], [2], [-1], [0, 2, 4]]:
    case("movement", "Squeeze", [f(1, 3, 1, 2, 1)], {"axes": axes}, {}, [i64(*axes)] if axes else [])
for axes in [[0], [1], [-1], [0, 4], [1, 2], [-1, -3]]:
    case("movement", "Unsqueeze", [x], {"axes": axes}, {}, [i64(*axes)])
for perm in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0], [2, 0, 1]]:
    case("movement", "Transpose", [x], {"perm": perm})
case("movement", "Transpose", [x], {})
case("movement", "Transpose", [f(2, 3, 2, 2, 3)], {"perm": [0, 3, 1, 4, 2]})
case("movement", "Transpose", [ints(2, 3)], {"perm": [1, 0]})
case("movement", "Identity", [x])
case("movement", "Identity", [bools(4)])

# --- block_rearrangement
for block in [1, 2, 3]:
    for mode, name in enumerate(["DCR", "CRD"]):
        case("block_rearrangement", "DepthToSpace", [f(2, 2 * block * block, 2, 3)], {"blocksize": block, "mode": mode},
             {"blocksize": block, "mode": name})
    case("block_rearrangement", "SpaceToDepth", [f(2, 2, 2 * block, 3 * block)], {"blocksize": block})

# --- slice
far = 2**63 - 1
for starts, ends, axes, steps in [
        ([1], [3], [1], [1]), ([0, 1], [2, 3], None, None), ([1], [far], [2], None), ([-3], [-1], [2], None),
        ([-100], [100], [0], None), ([0, 1], [far, far], [1, 2], [2, 3]), ([3], [1], [2], None), ([-1], [-far], [2], [-1]),
        ([3, 1], [0, -far], [2, 1], [-2, -1]), ([100], [-100], [0], [-1]), ([2], [far], [-1], [2]), ([1], [-1], [0], [1]),
        ([-far - 1], [far], [2], [3])]:
    ours = {"starts": starts, "ends": ends}
    more = [i64(*starts), i64(*ends)]
    if axes is not None:
        ours["axes"], more = axes, more + [i64(*axes)]
    elif steps is not None:
        more.append(None)
    if steps is not None:
        ours["steps"], more = steps, more + [i64(*steps)]
    case("slice", "Slice", [f(3, 4, 5)], ours, {}, more)
for axis, sizes in [(1, [1, 3, 2]), (0, [1, 1]), (-1, [4, 1])]:
    x = f(2, 6, 5)
    for k in range(len(sizes)):
        case("slice", "Split", [x], {"axis": axis, "begin": sum(sizes[:k]), "size": sizes[k]}, {"axis": axis}, [i64(*sizes)], output=k, outputs=len(sizes))

# --- expand
for shape, to in [((3, 1), (2, 3, 4)), ((1,), (5,)), ((), (2, 2)), ((2, 3), (1, 3)), ((2, 1, 3), (4, 1)), ((4,), (1,))]:
    case("expand", "Expand", [f(*shape)], {"shape": list(to)}, {}, [i64(*to)])
for shape, repeats in [((2, 3), [2, 2]), ((2, 3), [1, 3]), ((1, 2, 2), [3, 1, 2]), ((4,), [3]), ((2, 2), [1, 1])]:
    case("expand", "Tile", [f(*shape)], {"repeats": repeats}, {}, [i64(*repeats)])
case("expand", "Tile", [ints(2, 2)], {"repeats": [2, 1]}, {}, [i64(2, 1)])

# --- concat
for axis, shapes in [(0, [(2, 3), (1, 3)]), (1, [(2, 3), (2, 1), (2, 4)]), (-1, [(2, 2, 1), (2, 2, 3)]), (2, [(1, 1, 2)] * 5), (0, [(3,)])]:
    case("concat", "Concat", [f(*s) for s in shapes], {"axis": axis})
case("concat", "Concat", [ints(2), ints(3)], {"axis": 0})
case("concat", "Concat", [bools(2), bools(1), bools(2)], {"axis": 0})

# --- pad
for mode, name in enumerate(["constant", "reflect", "edge"]):
    for pads in [[0, 0, 1, 2, 0, 0, 2, 1], [0, 1, 0, 0, 0, 1, 0, 0], [0, 0, 0, 3, 0, 0, 3, 0], [0] * 8]:
        case("pad", "Pad", [f(1, 2, 4, 5)], {"pads": pads, "mode": mode}, {"mode": name}, [i64(*pads)])
case("pad", "Pad", [f(3, 4)], {"pads": [1, 1, 0, 2], "value": 2.5}, {}, [i64(1, 1, 0, 2), np.array(2.5, np.float32)])
case("pad", "Pad", [f(4, 5)], {"pads": [-1, 1, 0, -2]}, {}, [i64(-1, 1, 0, -2)])
case("pad", "Pad", [ints(3)], {"pads": [1, 2], "value": 7.0}, {}, [i64(1, 2), i64(7).reshape(())])
x = f(2, 3)
case("pad", "Pad", [x], {"pads": [0, 5, 0, 7], "mode": 1}, expected=np.pad(x, [(0, 0), (5, 7)], mode="reflect"))

# --- gather
for axis in [0, 1, -1]:
    case("gather", "Gather", [f(3, 4, 3), ints(2, 2, low=-3, high=3)], {"axis": axis})
case("gather", "Gather", [f(3, 4), np.array(2, np.int64)], {"axis": 1})
case("gather", "Gather", [f(6, 4), ints(5, low=0, high=6, dtype=np.int32)])
case("gather", "Gather", [ints(6), ints(3, low=0, high=6)])
case("gather", "Gather", [bools(6), ints(3, low=0, high=6)])

# --- resize
COORDINATES = ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"]
NEAREST = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
empty = np.array([], np.float32)
for scales in [[1, 1, 2, 2], [1, 1, 2, 3], [1, 1, 0.5, 0.5], [1, 1, 1.5, 0.75], [1, 1, 0.6, 2.4]]:
    for c, name in enumerate(COORDINATES):
        common = {"scales": [float(s) for s in scales], "coordinate_transformation_mode": c}
        for n, rounding in enumerate(NEAREST):
            if n in (0, c) or scales[2] == 1.5:
                case("resize", "Resize", [f(1, 1, 4, 5)], {**common, "nearest_mode": n},
                     {"coordinate_transformation_mode": name, "nearest_mode": rounding}, [None, np.array(scales, np.float32)])
        case("resize", "Resize", [f(1, 2, 4, 5)], {**common, "mode": 1}, {"coordinate_transformation_mode": name, "mode": "linear"},
             [None, np.array(scales, np.float32)])
for sizes in [[1, 2, 7, 3], [1, 2, 1, 9], [1, 2, 4, 4]]:
    for c, name in enumerate(COORDINATES):
        for mode, mode_name in enumerate(["nearest", "linear"]):
            case("resize", "Resize", [f(1, 2, 4, 4)], {"sizes": sizes, "coordinate_transformation_mode": c, "mode": mode},
                 {"coordinate_transformation_mode": name, "mode": mode_name}, [None, None, i64(*sizes)])
case("resize", "Resize", [f(1, 1, 6)], {"scales": [1.0, 1.0, 2.0], "mode": 1}, {"mode": "linear"}, [None, np.array([1, 1, 2], np.float32)])
case("resize", "Resize", [f(1, 1, 2, 3, 2)], {"scales": [1.0, 1.0, 2.0, 2.0, 1.5], "mode": 1}, {"mode": "linear"},
     [None, np.array([1, 1, 2, 2, 1.5], np.float32)])
