# SPDX-License-Identifier: MIT
"""The kernels of each model's plan that only move elements, with the log's reasons, as a table: movers.py DNNKIT
MODEL.onnx ... (DNNKIT: the command-line tool). Kernels that run once, when a session is made, are counted apart."""
import collections
import json
import pathlib
import subprocess
import sys


def movers(tool, model):
    """Kernels of a run, those of them that only move elements by operator and reason, and how many run once."""
    log = json.loads(subprocess.run([tool, "explain", "--json", "--isa", "avx512", model], check=True, capture_output=True).stdout)
    kept, once = collections.Counter(), 0
    for decision in log["decisions"]:
        if decision["verdict"] != "only moves elements":
            continue
        if decision["reason"] == "it runs once":
            once += 1
        else:
            kept[decision["nodes"][-1]["operator"], decision["reason"]] += 1
    return log["totals"]["kernels"], kept, once


if __name__ == "__main__":
    print("| model | kernels of a run | of them, only moving elements: why | run once |\n|---|---|---|---|")
    for path in sys.argv[2:]:
        kernels, kept, once = movers(sys.argv[1], path)
        reasons = "; ".join(f"{n} {operator}: {why}" for (operator, why), n in sorted(kept.items()))
        print(f"| {pathlib.Path(path).stem} | {kernels} | {reasons or 'none'} | {once} |")
