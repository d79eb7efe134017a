# SPDX-License-Identifier: MIT
"""How many kernels a run takes: of the plans that `dnnkit explain` shows, and nodes of the graphs that ONNX Runtime runs.

The graphs are those of the zoo whose sizes are known, or symbols in some of them, and networks made here. ONNX Runtime's
are optimised as far as it can (ORT_ENABLE_ALL, its layouts for the processor included) and written by the session that
would run them; a run's profile has an event for each of their nodes. Counted are the nodes of all branches, as the
plan's kernels are, and once more without those that only give the same elements another shape, which is what the ratio
is made of: kernels to such nodes.
"""
import argparse
import collections
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import onnx
import onnxruntime

from made_networks import made_networks

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/zoo"), str(ROOT / "tests/support")]
from materialize import materialize
from run import LARGE
from runtime_peer import progress

SHAPES_ONLY = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"}
COLUMNS = ["model", "dnnkit", "ONNX Runtime", "without reshapes", "ratio"]


def kernels_of(tool, path):
    found = subprocess.run([tool, "explain", "--json", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(found)["totals"]["kernels"]


def nodes_of(graph):
    """Nodes by operator, those of branches and loops included, Constants left out."""
    found = collections.Counter(n.op_type for n in graph.node if n.op_type != "Constant")
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs]:
                found += nodes_of(inner)
    return found


def nodes_run(path):
    """Nodes by operator of the graph that ONNX Runtime makes of this one."""
    written = path.with_name("optimised.onnx")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.optimized_model_filepath = str(written)
    options.log_severity_level = 3  # such a file is for this machine, it says
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return nodes_of(onnx.load(written, load_external_data=False).graph)


def counted(tool, name, path):
    nodes = nodes_run(path)
    kernels, shapes_only = kernels_of(tool, path), sum(nodes[kind] for kind in SHAPES_ONLY)
    return {
        "name": name,
        "kernels": kernels,
        "nodes": nodes.total(),
        "nodes_without_reshapes": nodes.total() - shapes_only,
        "ratio": kernels / (nodes.total() - shapes_only),
        "ratio_of_all": kernels / nodes.total(),
        "node_kinds": dict(nodes.most_common()),
    }


def results(a):
    """Each model's counts; its weights are there meanwhile."""
    zoo = {p.stem: p for p in sorted((ROOT / "tests/zoo").glob("*.onnx")) if not p.stem.endswith("_dyn")}
    made = made_networks()
    for name in a.names or [*zoo, *made]:
        progress(name)
        with tempfile.TemporaryDirectory(dir=a.work) as folder:
            if name in made:
                path = pathlib.Path(folder, f"{name}.onnx")
                onnx.save(made[name](), path)
            elif name in LARGE:
                yield {"name": name, "kernels": kernels_of(a.tool, zoo[name]), "reason": "its weights are beyond 3 GB"}
                continue
            elif name in zoo:
                path = materialize(zoo[name], folder)
            else:
                raise SystemExit(f"no model is called {name}: there are {', '.join([*zoo, *made])}")
            yield counted(a.tool, name, path)


def row(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for graphs and weights")
    parser.add_argument("--tool", type=pathlib.Path, required=True, help="the program dnnkit")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, with the nodes by operator")
    parser.add_argument("names", nargs="*", metavar="MODEL", help="all when none is named")
    a = parser.parse_args()
    a.work.mkdir(parents=True, exist_ok=True)
    if not a.json:
        row(*COLUMNS)
        print("|---|" + "---:|" * (len(COLUMNS) - 1))
    compared = []
    for result in results(a):
        progress("")
        if a.json:
            print(json.dumps(result), flush=True)
        elif "reason" in result:
            row(f"{result['name']} ({result['reason']})", result["kernels"], "", "", "")
        else:
            row(*(result[k] for k in ("name", "kernels", "nodes", "nodes_without_reshapes")), f"{result['ratio']:.2f}")
        compared += [result] if "ratio" in result else []
    if not compared:
        return
    mean, of_all = (statistics.geometric_mean(r[k] for r in compared) for k in ("ratio", "ratio_of_all"))
    if a.json:
        print(json.dumps({"name": "geometric mean", "ratio": round(mean, 3), "ratio_of_all": round(of_all, 3)}))
    else:
        row(f"geometric mean (of all nodes: {of_all:.2f})", "", "", "", f"{mean:.2f}")


if __name__ == "__main__":
    main()
