# SPDX-License-Identifier: MIT
"""Kernels, bytes of intermediates and arena of the zoo's models, by which passes run; beside what papers publish.

By `none` of the passes that can be left out, by `fusion` alone (plan fusion), by fusion and `stages` (join stages as well),
by `all`. Read and written is what is neither an input or output of the network nor known before a run, each element of a
kernel's operand counted once; `as built`: of the model's operators one by one, each result once.
"""
import argparse
import sys

import published
from explained import chosen, geometric_mean, megabytes, table, tool

FUSION, STAGES = ["plan fusion"], ["plan fusion", "join stages"]
BY = ["none", "fusion", "stages", "all"]


class model:
    def __init__(self, name, path, dnnkit):
        self.name = name
        by_all = dnnkit.explain(path)["totals"]
        self.operators, self.as_built = by_all["operators"], by_all["intermediate_bytes_as_built"]
        self.by = [dnnkit.explain_by(path, passes)["totals"] for passes in ([], FUSION, STAGES)] + [by_all]

    def kernels(self):
        return [by["kernels"] for by in self.by]

    def intermediates(self, access):
        return [by["intermediate_bytes"][access] for by in self.by]

    def arena(self):
        return [by["arena_bytes"] for by in self.by]


def mean_row(models, figures, before):
    """Geometric means of figures in parts of those by no pass, with empty cells for the columns before them."""
    rows = [[number / figures(m)[0] for number in figures(m)] for m in models]
    return ["geometric mean, in parts of none", *before, *(f"{geometric_mean(column):.2f}" for column in zip(*rows))]


def print_kernels(models):
    print("Kernels of a run:\n")
    table(["model", "operators", *BY], [[m.name, m.operators, *m.kernels()] for m in models]
          + [mean_row(models, model.kernels, [""])])


def print_intermediates(models):
    both = {access: lambda m, access=access: m.intermediates(access) for access in ("written", "read")}
    rows = [[m.name, megabytes(m.as_built), *(f"{megabytes(w)} / {megabytes(r)}" for w, r in zip(*(f(m) for f in both.values())))]
            for m in models]
    means = [mean_row(models, f, [""]) for f in both.values()]
    rows.append([*means[0][:2], *(" / ".join(pair) for pair in zip(*(m[2:] for m in means)))])
    print("\nMegabytes of intermediates, written / read in a run:\n")
    table(["model", "as built", *BY], rows)


def print_arena(models):
    print("\nMegabytes of the arena:\n")
    table(["model", *BY], [[m.name, *map(megabytes, m.arena())] for m in models] + [mean_row(models, model.arena, [])])


def part(after, before):
    return f"{after / before:.2f}"


def print_beside(title, heading, rows):
    if rows:
        print(f"\n{title}:\n")
        table(heading, rows)


def print_published(models):
    rows = []
    for m in (m for m in models if m.name in published.DNNFUSION):
        before, after, bytes_before, bytes_after = published.DNNFUSION[m.name]
        kernels, written = m.kernels(), m.intermediates("written")
        rows.append([m.name, f"{before} to {after}", f"{m.operators} to {kernels[3]}", part(bytes_after, bytes_before),
                     part(written[1], m.as_built), part(written[3], m.as_built)])
    print_beside("Beside DNNFusion (Niu's thesis, table 3.5): layers to kernels, and intermediates in parts of those before",
                 ["model", "layers, published", "here, all", "intermediates, published", "here, fusion", "here, all"], rows)
    rows = []
    for m in (m for m in models if m.name in published.SMARTMEM):
        before, by_dnnfusion, after = published.SMARTMEM[m.name]
        kernels = m.kernels()
        rows.append([m.name, before, by_dnnfusion, after, m.operators, kernels[1], kernels[3], part(kernels[3], after)])
    print_beside("Beside SmartMem (table 7): operators to kernels",
                 ["model", "published", "DNNFusion", "SmartMem", "here", "fusion", "all", "all / SmartMem"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the program dnnkit")
    parser.add_argument("names", nargs="*", metavar="MODEL", help="of the zoo; all when none is named")
    a = parser.parse_args()
    dnnkit = tool(a.tool, "avx512")
    models = []
    for name, path in chosen(a.names).items():
        if sys.stderr.isatty():
            print(f"\r\033[K{name}", end="", file=sys.stderr, flush=True)
        models.append(model(name, path, dnnkit))
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    print_kernels(models)
    print_intermediates(models)
    print_arena(models)
    print_published(models)


if __name__ == "__main__":
    main()
