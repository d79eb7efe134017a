# SPDX-License-Identifier: MIT
"""Random ONNX graphs through ONNX Runtime and dnnkit: in the interpreter, with passes and without, and compiled.

Prints one JSON line a failure and last `N passed, N failed, N skipped`. Graph I of seed S is the same in every run.
"""

import argparse
import collections
import json
import pathlib
import sys

import check
import differences

ENOUGH = 2000  # graphs, of which each explanation must explain one


def look_again(a, explained):
    """Runs the graphs that rare explanations name, which the run did not need."""
    for entry in explained.unused():
        if "seen" in entry:
            there = argparse.Namespace(**{**vars(a), "seed": entry["seen"]["seed"]})
            explained.verdict(check.in_process(there, entry["seen"]["index"], {entry["seen"]["only"]}, False))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--index", type=int, help="this graph alone")
    parser.add_argument("--compiled", type=int, default=0, help="so many of the graphs are compiled, too")
    parser.add_argument("--only", default="", help="operators, separated by commas")
    parser.add_argument("--count", action="store_true", help="print how many nodes of each operator there were")
    parser.add_argument("--flags", help="the compiler's flags for compiled graphs")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for models and programs")
    parser.add_argument("--tool", type=pathlib.Path, required=True, help="the program dnnkit")
    a = parser.parse_args()
    only = set(filter(None, a.only.split(",")))
    indices = [a.index] if a.index is not None else range(a.graphs)
    every = max(1, len(indices) // a.compiled) if a.compiled else 0
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    operators = collections.Counter()
    explained = differences.Explained()
    for i in indices:
        if sys.stderr.isatty():
            print(f"\r{i}: {counts}", end="", file=sys.stderr, flush=True)
        result = check.in_process(a, i, only, bool(every) and i % every == 0)
        verdict = explained.verdict(result)
        operators.update(result.pop("operators", []))
        counts[verdict] += 1
        if verdict == "failed" or (verdict == "skipped" and a.index is not None):
            print(json.dumps(result), flush=True)
    if len(indices) >= ENOUGH and not only:
        look_again(a, explained)
        for entry in explained.unused():
            counts["failed"] += 1
            print(json.dumps({"problem": "an explanation that no graph needs", "explanation": entry}))
    if a.count:
        print(json.dumps({"operators": dict(sorted(operators.items()))}))
    print(", ".join(f"{n} {word}" for word, n in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
