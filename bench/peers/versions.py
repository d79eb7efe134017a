# SPDX-License-Identifier: MIT
"""Two versions of dnnkit on the same models, weights and inputs: one JSON line a model, then a table.

Each tool compiles a program of its own, in one unit, by one compiler; what that takes is processor time, the tool's and
the compiler's. Programs are compared with ONNX Runtime once, when they are new. Times are of one thread, pinned to one
processor, both programs in turns: medians of turns, the ratio the median of the turns' ratios, so that what changes the
machine's speed for a while touches both. Models with symbols run with the largest sizes of tests/zoo.
"""
import argparse
import functools
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/zoo"), str(ROOT / "tests/support"), str(ROOT / "bench/passes")]
from explained import geometric_mean, table
from materialize import feed, materialize
from run import SIZES
from runtime_peer import (call, compare, file_name, in_turns, last_line, milliseconds_of_program, one_processor,
                          progress, ratio_of, runtime_of)

VERSIONS = ["before", "now"]
TOLERANCE = 1e-4  # of the largest magnitude, as in tests/zoo


def processor_seconds(words, log):
    """Exit status of a command, and the processor time of it and of all that it has waited for."""
    with open(log, "w") as out:
        child = subprocess.Popen([*map(str, words)], stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


class network:
    """A model with its inputs as files."""
    def __init__(self, name, work):
        self.name, self.folder = name, work / name
        self.path = materialize(ROOT / f"tests/zoo/{name}.onnx", self.folder)
        self.listed = self.folder / "inputs.json"

    @functools.cached_property
    def expected(self):
        """ONNX Runtime's session and outputs; writes the inputs, too."""
        session = runtime_of(self.path)
        values = feed(self.name, session, SIZES.get(self.name, [{}])[-1])
        for x, value in values.items():
            np.save(self.folder / file_name(x), value)
        self.listed.write_text(json.dumps(list(values)))
        return session, session.run(None, values)

    def command(self, version):
        inputs = (f"{x}={self.folder / file_name(x)}" for x in json.loads(self.listed.read_text()))
        return [self.folder / version, *(word for x in inputs for word in ("--input", x))]

    def notes(self, version):
        return self.folder / f"{version}.json"

    def build(self, version, tool):
        """Compiles a program and checks it; notes what it is. Raises RuntimeError if it is not there or not right."""
        program, log = self.folder / version, self.folder / f"{version}.log"
        self.notes(version).unlink(missing_ok=True)
        progress(f"{self.name}: compiling {version}")
        words = [tool, "build", self.path, "-o", program, "--kernel-parts", 1, "--jobs", 1]
        status, seconds = processor_seconds(words, log)
        if status:
            raise RuntimeError(f"{version}: {(re.findall('(?:error|fatal error): .*', log.read_text()) or [log])[0]}")
        kernels = re.search(r"(\d+) kernels", call([program, "--help"], 60)[1])
        session, expected = self.expected
        outputs = self.folder / f"{version}_outputs"
        status, text, _, _ = call([*self.command(version), "--output", outputs], 600)
        if status:
            raise RuntimeError(f"{version}: {last_line(text) or f'exit status {status}'}")
        deviation = compare(expected, outputs, session)[1]
        if not deviation <= TOLERANCE:
            raise RuntimeError(f"{version}: deviates by {deviation:.1e}")
        self.notes(version).write_text(json.dumps(
            {"kernels": int(kernels[1]), "deviation": deviation, "compile_s": round(seconds, 1)}))

    def times(self, turns, turn_ms):
        progress(f"{self.name}: measuring")
        sides = {v: lambda command=self.command(v), runs=1: milliseconds_of_program(command, runs) for v in VERSIONS}
        with one_processor():
            once = max(side() for side in sides.values())  # files are in memory now
            runs = max(1, min(50, int(turn_ms / once)))
            taken = in_turns({v: lambda side=side: side(runs=runs) for v, side in sides.items()}, turns)
        ratios = sorted(now / before for before, now in zip(taken["before"], taken["now"]))
        return {f"{v}_ms": round(statistics.median(taken[v]), 3) for v in VERSIONS} | {
            "ratio": round(ratio_of(taken["now"], taken["before"]), 4), "range": [round(ratios[i], 4) for i in (0, -1)]}


def result_of(name, tools, a):
    """What is noted of both programs, and their times; compiles what is missing."""
    net = network(name, a.work)
    for version, tool in tools.items():
        notes = net.notes(version)
        if not notes.exists() or not (a.reuse or notes.stat().st_mtime > tool.stat().st_mtime):
            net.build(version, tool)
    result = {"name": name} | {v: json.loads(net.notes(v).read_text()) for v in tools}
    return result if a.no_time else result | net.times(a.turns, a.turn_ms)


def print_table(path):
    """Of several results of one model the last counts."""
    results = {r["name"]: r for r in map(json.loads, path.read_text().splitlines()) if "ratio" in r}.values()
    of_both = lambda r, key, form: ", ".join(format(r[v][key], form) for v in VERSIONS)
    rows = [[r["name"], f"{r['before_ms']:.1f}", f"{r['now_ms']:.1f}", f"{r['ratio']:.3f}",
             "{:.2f} to {:.2f}".format(*r["range"]), of_both(r, "kernels", "d"),
             f"{max(r[v]['deviation'] for v in VERSIONS):.0e}", of_both(r, "compile_s", ".0f")] for r in results]
    mean = lambda ratio: geometric_mean([ratio(r) for r in results])
    rows.append(["geometric mean", "", "", f"{mean(lambda r: r['ratio']):.3f}", "", "", "",
                 f"{mean(lambda r: r['now']['compile_s'] / r['before']['compile_s']):.2f}"])
    table(["model", "before, ms", "now, ms", "ratio", "of turns", "kernels", "deviation", "compiled in, s"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for weights, programs and results")
    parser.add_argument("--no-time", action="store_true", help="compile and compare results only")
    parser.add_argument("--reuse", action="store_true", help="run programs that are older than the tools, too")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--turn-ms", type=float, default=500, help="what the runs of a turn take, about")
    parser.add_argument("before", type=pathlib.Path, help="the program dnnkit of one version")
    parser.add_argument("now", type=pathlib.Path, help="that of the other one")
    parser.add_argument("names", nargs="+", metavar="MODEL", help="of the zoo")
    a = parser.parse_args()
    failed, lines = 0, a.work / "results.jsonl"
    for name in a.names:
        try:
            result = result_of(name, {"before": a.before, "now": a.now}, a)
        except (RuntimeError, OSError, ValueError) as failure:
            result, failed = {"name": name, "failed": str(failure)[:600]}, failed + 1
        progress("")
        print(json.dumps(result), flush=True)
        with open(lines, "a") as file:
            file.write(json.dumps(result) + "\n")
    if not a.no_time and failed < len(a.names):
        print_table(lines)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
