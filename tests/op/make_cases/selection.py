# SPDX-License-Identifier: MIT
"""Elements chosen by indices or by their values."""
import numpy as np

from cases import bools, case, f, i64, ints, node_tests, random

# --- gather_elements
node_tests("gather_elements", "gather_elements", lambda a, i: {"axis": a.get("axis", 0)})
node_tests("gather_elements", "gathernd", lambda a, i: {"batch_dims": a.get("batch_dims", 0)})
node_tests("gather_elements", "reversesequence", lambda a, i: {"time_axis": a.get("time_axis", 0), "batch_axis": a.get("batch_axis", 1)})
for axis in [0, 1, -1]:
    case("gather_elements", "GatherElements", [f(3, 4, 3), ints(2, 3, 3, low=-3, high=3)], {"axis": axis})
case("gather_elements", "GatherElements", [bools(3, 4), ints(3, 2, low=0, high=4)], {"axis": 1})
case("gather_elements", "GatherND", [f(3, 4, 5), ints(2, 3, 2, low=-3, high=3)])
case("gather_elements", "GatherND", [f(2, 3, 4, 5), ints(2, 3, 1, low=0, high=3)], {"batch_dims": 1})
case("gather_elements", "GatherND", [ints(4), ints(3, 1, low=0, high=4)])

# --- scatter
REDUCTION = ["none", "add", "mul", "max", "min"]
node_tests("scatter", "scatter_elements", lambda a, i: {"axis": a.get("axis", 0), "reduction": REDUCTION.index(a.get("reduction", b"none").decode())})
node_tests("scatter", "scatternd", lambda a, i: {"reduction": REDUCTION.index(a.get("reduction", b"none").decode())})
for r, reduction in enumerate(REDUCTION):
    where = np.argsort(random.random((3, 4)), axis=1)[:, :2] if r == 0 else ints(3, 2, low=-4, high=4)
    case("scatter", "ScatterElements", [f(3, 4), where, f(3, 2)], {"axis": 1, "reduction": r}, {"axis": 1, "reduction": reduction})
    case("scatter", "ScatterND", [f(4, 3), i64(1, 3).reshape(2, 1) if r == 0 else i64(1, 1, -1).reshape(3, 1), f(2 if r == 0 else 3, 3)],
         {"reduction": r}, {"reduction": reduction})
case("scatter", "ScatterElements", [ints(5), i64(1, 3), ints(2)])
case("scatter", "ScatterND", [f(4, 3, 2), i64(1, 2, 3, 0).reshape(2, 2), f(2, 2)])

# --- cumulative
for axis in [0, 1, -1]:
    for exclusive in (False, True):
        for reverse in (False, True):
            case("cumulative", "CumSum", [f(3, 4, 2)], {"axis": axis, "exclusive": exclusive, "reverse": reverse},
                 {"exclusive": int(exclusive), "reverse": int(reverse)}, [np.array(axis, np.int64)])
case("cumulative", "CumSum", [ints(9)], {"axis": 0}, {}, [np.array(0, np.int64)])
case("cumulative", "CumSum", [ints(9, dtype=np.int32)], {"axis": 0}, {}, [np.array(0, np.int64)])

# --- top_k
for x in [f(3, 5, 4), ints(4, 6, low=-2, high=3), ints(3, 4, low=-2, high=3, dtype=np.int32)]:
    for axis, k, largest in [(-1, 2, True), (0, 3, True), (1, 1, False), (-1, 4, False)]:
        for output in (0, 1):
            case("top_k", "TopK", [x], {"k": k, "axis": axis, "largest": largest, "output": output}, {"axis": axis, "largest": int(largest)},
                 [i64(k)], output=output, outputs=2)
for axis in [0, 1, -1]:
    case("top_k", "Hardmax", [ints(3, 4, 5, low=-2, high=3).astype(np.float32)], {"axis": axis})

# --- selection
node_tests("selection", "compress", lambda a, i: {"axis": a.get("axis"), "flatten": "axis" not in a})
node_tests("selection", "nonzero", lambda a, i: {})
case("selection", "NonZero", [ints(3, 4, 2, low=-1, high=2).astype(np.float32)])
case("selection", "NonZero", [ints(7, low=-1, high=2)])
for output in range(4):
    node_tests("selection", "unique", lambda a, i: {"axis": a.get("axis"), "flatten": "axis" not in a, "sorted": a.get("sorted", 1), "output": output},
               output)

# --- box_selection
node_tests("box_selection", "nonmaxsuppression", lambda a, i: ({"center_point_box": a.get("center_point_box"), "max_output_boxes_per_class": int(i[2][0]),
           "iou_threshold": float(i[3][0]), "score_threshold": float(i[4][0])}, i[:2]))
