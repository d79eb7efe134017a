# SPDX-License-Identifier: MIT
"""Yellow edges of the zoo's models, and which of them the profile database decides otherwise than the cost model would.

Of a decision that was measured the log has four numbers: per cent of the time of two kernels, up to how many one kernel is
taken, and cycles of one and of two by the cost model.
"""
import argparse
import collections
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "passes"))
from explained import chosen, table, tool  # noqa: E402


def yellow_edges(plan):
    for d in plan["decisions"]:
        if d["pass"] == "plan fusion" and len(d["costs"]) in (2, 4):
            yield d, [c["amount"] for c in d["costs"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True, help="the program dnnkit")
    parser.add_argument("--isa", default="avx2", help="whose table is asked")
    parser.add_argument("names", nargs="*", metavar="MODEL", help="of the zoo; all when none is named")
    a = parser.parse_args()
    dnnkit = tool(a.tool, a.isa)
    asked = collections.Counter()
    rows = collections.Counter()
    for name, path in chosen(a.names).items():
        for d, costs in yellow_edges(dnnkit.explain(path)):
            asked[len(costs)] += 1
            if len(costs) == 2:
                continue
            ratio = costs[0] / 100
            one_kernel, model_says_one = costs[0] <= costs[1], costs[2] < costs[3]
            if one_kernel == model_says_one:
                continue
            operators = " -> ".join(n["operator"] for n in d["nodes"])
            gained = 1 - ratio if one_kernel else 1 - 1 / ratio
            rows[name, operators, f"{ratio:.2f}", f"{costs[2]:.0f}, {costs[3]:.0f}", "one" if one_kernel else "two",
                 "yes" if d["applied"] == one_kernel else "no", f"{100 * gained:.0f} %"] += 1
    print(f"\n{asked[4]} yellow edges of the zoo were decided by measurements, {asked[2]} by the cost model\n")
    table(["model", "edges", "operators", "measured: one kernel by two", "cost model: one, two", "decided", "made so",
           "gained of the two"], ([row[0], n, *row[1:]] for row, n in rows.items()))


if __name__ == "__main__":
    main()
