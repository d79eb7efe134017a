# SPDX-License-Identifier: MIT
"""Operators, FLOPs, kernels and intermediates with the passes of algebra and without, model by model.

`operators` are those that kernels are made of: of what composite operators of the model were replaced by. A pass of which a
model's plan has the same figures with and without is not in the table. `rules` is how many were applied (pass apply rules).
"""
import argparse

import published
from explained import chosen, megabytes, table, tool

# Passes that replace operators by others that compute the same numbers by a law of arithmetic.
ALGEBRA = ["expand powers", "products of vectors", "share reductions", "apply rules", "share shifts",
           "fold normalizations into convolutions", "fold scales into products", "sum convolutions", "merge siblings"]
MODELS = ["gpt2", "bert_base", "swin_t"]
HEADING = ["model", "passes", "operators", "MFLOP", "kernels", "intermediates written, MB", "predicted, ms", "rules"]


def figures(plan):
    totals = plan["totals"]
    applied = sum(d["pass"] == "apply rules" and d["verdict"] == "rewritten" for d in plan["decisions"])
    return [totals["rewritten_operators"], f"{totals['flops'] / 1e6:.1f}", totals["kernels"],
            megabytes(totals["intermediate_bytes"]["written"]), f"{totals['predicted_microseconds'] / 1e3:.1f}", applied]


def rows_of(name, path, dnnkit):
    by_all = dnnkit.explain(path)
    totals = by_all["totals"]
    yield [name, "the model as it is", totals["operators"], f"{totals['flops_as_built'] / 1e6:.1f}", "",
           megabytes(totals["intermediate_bytes_as_built"]), "", ""]
    yield [name, "all", *figures(by_all)]
    yield [name, "without rules", *figures(dnnkit.explain(path, ["apply rules"]))]
    yield [name, "without algebra", *figures(dnnkit.explain(path, ALGEBRA))]
    for one in ALGEBRA:
        found = figures(dnnkit.explain(path, [one]))
        if one != "apply rules" and found != figures(by_all):
            yield [name, f"without {one}", *found]
    if name in published.DNNFUSION_REWRITING:
        without, by = published.DNNFUSION_REWRITING[name]
        yield [name, "DNNFusion, published: without rewriting, with it", "", "", f"{without}, {by}", "", "", ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the program dnnkit")
    parser.add_argument("names", nargs="*", metavar="MODEL", help=f"of the zoo; {', '.join(MODELS)} when none is named")
    a = parser.parse_args()
    dnnkit = tool(a.tool, "avx512")
    table(HEADING, (row for name, path in chosen(a.names or MODELS).items() for row in rows_of(name, path, dnnkit)))


if __name__ == "__main__":
    main()
