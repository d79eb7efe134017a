# SPDX-License-Identifier: MIT
"""Predicted against measured time of every kernel, network by network.

Predicted: cycles of `dnnkit explain --json`, divided by the clock that the multiply-add peak of this core says, the
median of what is measured between the networks. Measured: the shortest of the rounds, each a run of the network's
program with --trace, on one core. The error of a kernel is |predicted / measured - 1|.

Prints for each network: how many of its kernels take at least SHORT microseconds, the median of their errors and what
nine in ten of them stay below; the same of the shorter kernels; the time of all kernels, and their predicted time in
parts of it.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "zoo"))
from materialize import feed, materialize  # noqa: E402

NETWORKS = ["resnet50", "mobilenet_v2", "efficientnet_b0", "unet", "yolov8n", "wdsr_b", "swin_t", "vit_b_16", "bert_base",
            "whisper_tiny_encoder"]
ZOO = pathlib.Path(__file__).parents[2] / "tests" / "zoo"
SHORT = 5.0  # microseconds: kernels below it are counted apart


class inputs_of:
    """A graph's inputs as materialize.feed() asks a session for them."""

    def __init__(self, path):
        self.graph = onnx.load(path, load_external_data=False).graph

    def get_inputs(self):
        weights = {w.name for w in self.graph.initializer}
        return [self.port(x) for x in self.graph.input if x.name not in weights]

    class port:
        def __init__(self, x):
            self.name = x.name
            self.shape = [d.dim_value if d.HasField("dim_value") else d.dim_param for d in x.type.tensor_type.shape.dim]
            integers = x.type.tensor_type.elem_type == onnx.TensorProto.INT64
            self.type = "tensor(int64)" if integers else "tensor(float)"


class network:
    def __init__(self, name, a):
        self.name, self.folder = name, a.work / name
        self.model = materialize(ZOO / f"{name}.onnx", self.folder)
        self.program = self.folder / "program"
        stale = not self.program.exists() or self.program.stat().st_mtime < a.tool.stat().st_mtime
        if not self.program.exists() or (stale and not a.reuse):
            print(f"compiling {name}", file=sys.stderr, flush=True)
            subprocess.run([a.tool, "build", self.model, "-o", self.program], check=True, stdout=subprocess.DEVNULL)
        explained = json.loads(subprocess.run([a.tool, "explain", "--json", self.model], check=True, text=True,
                                              stdout=subprocess.PIPE).stdout)
        self.kernels = [k for k in explained["kernels"] if not k["setup"]]
        self.command = ["taskset", "-c", str(a.core), self.program, "--weights", self.model]
        for name, value in feed(self.name, inputs_of(self.model), {}).items():
            file = self.folder / f"input_{len(self.command)}.npy"
            np.save(file, value)
            self.command += ["--input", f"{name}={file}"]
        self.times = {}  # microseconds of each kernel, a list of rounds

    def run(self):
        trace = self.folder / "trace.json"
        subprocess.run([*self.command, "--trace", trace], check=True, stdout=subprocess.DEVNULL)
        for event in json.loads(trace.read_text())["traceEvents"]:
            number = event["args"]["kernel"] - 1
            if self.kernels[number]["name"] != event["name"]:
                raise RuntimeError(f"{self.name}: the program was compiled of other kernels than the tool plans")
            self.times.setdefault(number, []).append(event["dur"])

    def results(self, gigahertz):
        for number, times in sorted(self.times.items()):
            kernel = self.kernels[number]
            cost = kernel["predicted_time"]
            yield {"network": self.name, "kernel": number + 1, "name": kernel["name"],
                   "family": kernel["family"], "operators": operators(kernel), "shapes": shapes(kernel),
                   "reading": [o["reading"] for o in kernel["operands"]],
                   "measured_us": min(times), "median_us": statistics.median(times),
                   "predicted_us": cost["cycles"] / gigahertz / 1e3,
                   "cycles": {key: cost[key] for key in cost if key.endswith("_cycles")}}


def operators(kernel):
    return " ".join(o["operator"] for s in kernel["stages"] for o in s["operators"])


def shapes(kernel):
    def one(o):
        kind = ">" if o["access"] == "written" else "*" if o["storage"] in ("weight", "constant", "setup") else ""
        return kind + "x".join(map(str, o["shape"]))

    return " ".join(map(one, kernel["operands"]))


def error(k):
    return abs(k["predicted_us"] / k["measured_us"] - 1)


def row(name, kernels):
    long = [k for k in kernels if k["measured_us"] >= SHORT]
    short = [k for k in kernels if k["measured_us"] < SHORT]
    errors = sorted(map(error, long))
    total = sum(k["predicted_us"] for k in kernels) / sum(k["measured_us"] for k in kernels)
    few = f"{100 * statistics.median(map(error, short)):.0f}" if short else ""
    return (f"| {name} | {len(long)} | {100 * statistics.median(errors):.0f} | {100 * errors[len(errors) * 9 // 10]:.0f} "
            f"| {len(short)} | {few} | {sum(k['measured_us'] for k in kernels) / 1e3:.2f} | {total:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=pathlib.Path, required=True, help="the program dnnkit")
    parser.add_argument("--peak", type=pathlib.Path, required=True, help="the program bench_peak")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/costs"), help="folder for what is made")
    parser.add_argument("--rounds", type=int, default=9, help="runs of each network")
    parser.add_argument("--core", type=int, default=0, help="the processor that programs run on")
    parser.add_argument("--reuse", action="store_true", help="run the programs that are there")
    parser.add_argument("--kernels", action="store_true", help="print a line for each kernel, too")
    parser.add_argument("names", nargs="*", help="networks of the zoo")
    a = parser.parse_args()
    a.work.mkdir(parents=True, exist_ok=True)
    networks = [network(name, a) for name in a.names or NETWORKS]
    clocks = []
    for _ in range(a.rounds):
        for n in networks:
            peak = subprocess.run(["taskset", "-c", str(a.core), a.peak], check=True, text=True, stdout=subprocess.PIPE)
            clocks.append(json.loads(peak.stdout)["gigahertz"])
            n.run()
    gigahertz = statistics.median(clocks)
    results = {n.name: list(n.results(gigahertz)) for n in networks}
    with open(a.work / "kernels.jsonl", "w") as out:
        for kernels in results.values():
            for k in kernels:
                out.write(json.dumps(k | {"gigahertz": gigahertz}) + "\n")
    if a.kernels:
        for kernels in results.values():
            for k in kernels:
                print(f"{k['network']:16} {k['kernel']:4} {k['measured_us']:9.1f} {k['predicted_us']:9.1f} "
                      f"{k['predicted_us'] / k['measured_us']:5.2f} {k['family']:16} {k['operators']} | {k['shapes']}")
    print(f"The clock: {gigahertz:.2f} GHz (from {min(clocks):.2f} to {max(clocks):.2f})\n")
    print(f"| network | kernels of {SHORT:.0f} us and more | median error, % | nine in ten below, % | shorter ones "
          "| median error, % | all, ms | predicted / measured |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, kernels in results.items():
        print(row(name, kernels))
    print(row("all", [k for kernels in results.values() for k in kernels]))


if __name__ == "__main__":
    main()
