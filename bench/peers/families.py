#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where the time of networks goes, by families of kernels, as a Markdown table.

    build/peers/engines/environment/bin/python bench/peers/families.py [--runs N] [--processor P] [--avx2] [FOLDER]
                                                                       [MODEL ...]

FOLDER has what engines.sh leaves, build/peers/engines by default: for each model FOLDER/MODEL/MODEL.onnx, its inputs and
the program, or the one of --avx2. That is run N times with --trace, pinned to one processor; each kernel's time is its
least. The floor is what the multiply-adds of convolutions and products take at the peak that bench_peak measures. `of the
peak`: the FLOPs of a kernel as direct convolutions and products have them, by its time, as a part of that peak: more than
100 % by Winograd's algorithm. A family with less than 2 % of the time is among the others.

bench_peak measures with the widest vectors that it was compiled for: for --avx2 name one that was compiled for AVX2
(--peak), unless the processor adds as much either way, as a Zen 4 does.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "bench/passes"), str(ROOT / "tests/support")]
from engine import file_name
from engines import multiply_adds, pinned
from explained import table
from runtime_peer import progress

LEAST_SHARE = 0.02


def least_times(folder, program, runs, processor):
    """The events of a run's kernels, each with its least time."""
    inputs = json.loads((folder / "inputs.json").read_text())
    words = [w for x in inputs for w in ("--input", f"{x}={folder / file_name(x)}")]
    least = []
    with tempfile.TemporaryDirectory() as place:
        trace = pathlib.Path(place) / "trace.json"
        for _ in range(runs):
            with pinned({processor}):
                subprocess.run([folder / program, *words, "--trace", trace], check=True, stdout=subprocess.DEVNULL)
            events = [e for e in json.loads(trace.read_text())["traceEvents"] if "dur" in e]
            least = [min(pair, key=lambda e: e["dur"]) for pair in zip(least, events)] if least else events
    return least


def families_of(tool, model, options):
    """Of the kernels that a run has, in order."""
    told = json.loads(subprocess.run([tool, "explain", "--json", *options, model], check=True, stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL).stdout)
    return [k["family"] for k in told["kernels"] if not k["setup"]]


def row_of(name, a, peak):
    folder = a.folder / name
    families = families_of(a.tool, folder / f"{name}.onnx", ["--isa", "avx2"] if a.avx2 else [])
    time, flops, count = (collections.Counter() for _ in range(3))
    events = least_times(folder, a.program, a.runs, a.processor)
    for e in events:
        family = families[e["args"]["kernel"] - 1]
        time[family] += e["dur"]
        flops[family] += e["args"].get("FLOPs", 0)
        count[family] += 1
    whole = sum(time.values())
    cells, others = [], 0
    for family, us in time.most_common():
        if us < LEAST_SHARE * whole:
            others += us
        else:
            cells.append(f"{family} {count[family]} x, {us / 1e3:.2f} ms, {100 * flops[family] / us / 1e3 / peak:.0f} %")
    if others:
        cells.append(f"others {others / 1e3:.2f} ms")
    floor = 2 * multiply_adds(folder / f"{name}.onnx") / peak / 1e6
    return [name, f"{floor:.1f}", f"{whole / 1e3:.2f}", len(events), f"{100 * sum(flops.values()) / whole / 1e3 / peak:.0f} %",
            "; ".join(cells)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--processor", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--avx2", action="store_true", help="the programs for AVX2 alone")
    parser.add_argument("--tool", type=pathlib.Path, default=ROOT / "build/release/bin/dnnkit")
    parser.add_argument("--peak", type=pathlib.Path, default=ROOT / "build/release/bin/bench_peak")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=ROOT / "build/peers/engines")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="those with a program when none is named")
    a = parser.parse_args()
    a.folder = a.folder.resolve()
    a.program = "program_avx2" if a.avx2 else "program"
    models = a.models or sorted(p.parent.name for p in a.folder.glob(f"*/{a.program}"))
    with pinned({a.processor}):
        peak = json.loads(subprocess.run([a.peak], check=True, stdout=subprocess.PIPE).stdout)["gflops"]
    print(f"Multiply-add peak: {peak:.0f} GFLOP/s\n")

    def rows():
        for name in models:
            progress(name)
            row = row_of(name, a, peak)
            progress("")
            yield row

    table(["network", "floor, ms", "kernels, ms", "kernels", "of the peak", "families: kernels, ms, of the peak"], rows())


if __name__ == "__main__":
    main()
