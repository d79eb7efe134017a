# SPDX-License-Identifier: MIT
"""What each pass is worth in time: models of the zoo with each pass left out in turn, on one thread, in turns.

    plan      asks for the plans, compiles nothing: kernels without each pass, expected time in parts of that by all
    build     compiles what `plan` says: a program by all passes, and one for each plan that differs from that
    compare   compares the results of the programs with ONNX Runtime's, and says the largest deviations
    measure   compares the results of the programs with ONNX Runtime's, and takes their times
    table     the times as a table

A pass without which the plan has the same kernels is not compiled, and passes without which a plan is the same share one
program. `build` leaves programs alone that are younger than the tool, `measure` models whose programs were measured; so
both go on where they were stopped. A time is the median of the runs of one process, which a first run has warmed up, pinned
to one processor; the program without a pass and the one with all of them take turns, and what is said is the median of
the turns' ratios.
"""
import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import statistics
import sys

import numpy as np

from explained import ZOO, chosen, table, tool

sys.path += [str(ZOO), str(ZOO.parent / "support")]
from materialize import feed, materialize  # noqa: E402
from runtime_peer import (call, compare, compile_program, file_name, in_turns, last_line,  # noqa: E402
                          milliseconds_of_program, one_processor, progress, ratio_of, runtime_of)

MODELS = ["resnet50", "convnext_tiny", "swin_t", "bert_base", "gpt2", "yolov8n", "efficientnet_b0"]
ALL = "all passes"
TURNS = 9
TURN_MS = 500  # what the runs of a turn take, about
TOLERANCE = 1e-4  # of the largest magnitude, as in tests/zoo
NOT_OF_KERNELS = ("predicted_time", "reason", "alternatives")  # what a log says of a kernel beside what it is


class variant:
    """A plan of a model, and the passes that lead to it when one of them is left out; none for that by all passes."""

    def __init__(self, model, folder, passes, totals, by_all):
        self.model, self.passes = model, passes
        self.program = folder / (passes[0] if passes else ALL).replace(" ", "_")
        self.kernels = totals["kernels"]
        self.predicted = totals["predicted_microseconds"] / by_all["predicted_microseconds"]

    def name(self):
        return f"{self.model} without {', '.join(self.passes)}" if self.passes else f"{self.model} by {ALL}"

    def options(self):
        return ["--kernel-parts", "1", "--jobs", "1", *(word for pass_name in self.passes[:1] for word in ("--without", pass_name))]

    def is_built(self, dnnkit):
        notes = self.program.with_suffix(".json")
        return self.program.exists() and notes.exists() and notes.stat().st_mtime > dnnkit.program.stat().st_mtime


def kernels_of(plan):
    """A text that plans have in common if their kernels are the same."""
    kernels = [{key: value for key, value in k.items() if key not in NOT_OF_KERNELS} for k in plan["kernels"]]
    return hashlib.sha256(json.dumps(kernels, sort_keys=True).encode()).hexdigest()


def variants_of(name, path, a, passes):
    """That by all passes, then one for each other plan. `passes`: those that are left out in turn."""
    by_all = a.dnnkit.explain(path)
    plans = {kernels_of(by_all): ([], by_all["totals"])}
    first = next(iter(plans))
    for one in passes:
        without = a.dnnkit.explain(path, [one])
        key = kernels_of(without)
        if key != first:
            plans.setdefault(key, ([], without["totals"]))[0].append(one)
    return [variant(name, a.work / name, left_out, totals, by_all["totals"]) for left_out, totals in plans.values()]


def passes_of(a):
    for name in a.passes:
        if name not in a.dnnkit.optional_passes:
            raise SystemExit(f"no pass that can be left out is called {name}: there are {', '.join(a.dnnkit.optional_passes)}")
    return a.passes or a.dnnkit.optional_passes


def all_variants(a):
    passes = passes_of(a)
    return {name: variants_of(name, path, a, passes) for name, path in chosen(a.names or MODELS).items()}


def print_by_pass(a, variants, cell):
    """A row a pass, a column a model; cell(variant) is what stands where the pass makes a difference."""
    same = []

    def rows():
        for one in passes_of(a):
            found = [next((v for v in of_model if one in v.passes), None) for of_model in variants.values()]
            if any(found):
                yield [one, *("=" if v is None else cell(v) for v in found)]
            else:
                same.append(one)

    table(["without", *variants], rows())
    print("\n`=`: the same kernels, with the movement operators that they read and store through, at setup, too." + (f" So it is in all these models without {', '.join(same)}." if same else ""))


def plan(a):
    variants = all_variants(a)
    table(["", *variants], [["kernels by all", *(v[0].kernels for v in variants.values())]])
    print()
    print_by_pass(a, variants, lambda v: f"{v.kernels} ({v.predicted:.2f})")
    of_models = [v for of_model in variants.values() for v in of_model]
    print(f"{len(of_models)} programs, {sum(v.is_built(a.dnnkit) for v in of_models)} of them built", file=sys.stderr)


def compiled(a, v, path):
    """What came of compiling a program, as a line says it."""
    reuse = v.is_built(a.dnnkit)
    done, text, notes = compile_program(a.dnnkit.program, path, v.program, reuse, v.options())
    return {"program": v.name(), "reused": reuse, **notes} | ({} if done else {"failed": text[-600:]})


def build(a):
    paths, wanted = {}, []
    for name, of_model in all_variants(a).items():
        progress(f"{name}: weights")
        paths[name] = materialize(ZOO / f"{name}.onnx", a.work / name)
        wanted += of_model
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for i, result in enumerate(pool.map(lambda v: compiled(a, v, paths[v.model]), wanted)):
            progress(f"{i + 1} of {len(wanted)} compiled")
            print(json.dumps(result), flush=True)
            failed += "failed" in result
    progress("")
    return 1 if failed else 0


class network:
    """A model with its inputs as files, and the results that ONNX Runtime has."""

    def __init__(self, name, folder):
        self.folder, self.path = folder, materialize(ZOO / f"{name}.onnx", folder)
        self.session = runtime_of(self.path)
        values = feed(name, self.session, {})
        self.expected = self.session.run(None, values)
        self.inputs = []
        for x, value in values.items():
            np.save(folder / file_name(x), value)
            self.inputs += ["--input", f"{x}={folder / file_name(x)}"]

    def deviation(self, v):
        """Of a program's results from ONNX Runtime's, in parts of the largest magnitude."""
        program, output = v.program, self.folder / "outputs"
        if f"\n  {v.kernels} kernels" not in call([program, "--help"], 60)[1]:
            raise RuntimeError(f"{program}: was compiled of another plan than the tool makes of {v.name()}")
        status, text, _, _ = call([program, *self.inputs, "--output", output], 600)
        if status:
            raise RuntimeError(f"{program}: {last_line(text)}")
        return compare(self.expected, output, self.session)[1]


def in_turns_with_all(network, by_all, v):
    commands = {"all": [by_all.program, *network.inputs], "without": [v.program, *network.inputs]}
    with one_processor():
        once = max(milliseconds_of_program(command, 1) for command in commands.values())  # files are in memory now
        runs = max(1, min(50, int(TURN_MS / once)))
        sides = {side: lambda command=command: milliseconds_of_program(command, runs) for side, command in commands.items()}
        times = in_turns(sides, TURNS)
    ratios = [w / x for w, x in zip(times["without"], times["all"])]
    return {"all_ms": round(statistics.median(times["all"]), 3), "without_ms": round(statistics.median(times["without"]), 3),
            "ratio": round(ratio_of(times["without"], times["all"]), 4), "range": [round(min(ratios), 4), round(max(ratios), 4)],
            "turns": TURNS, "runs_a_turn": runs}


def results_file(a):
    return a.work / "results.jsonl"


def results(a):
    """What was measured, by what it was measured of; of several of one program the last counts."""
    if not results_file(a).exists():
        return {}
    lines = [json.loads(line) for line in results_file(a).read_text().splitlines()]
    return {(r["name"], tuple(r["programs"])): r for r in lines}


def key_of(by_all, v):
    """A program that is compiled again is another one."""
    return v.name(), (by_all.program.stat().st_mtime, v.program.stat().st_mtime)


def require_built(a, variants):
    if missing := [v.name() for v in variants if not v.is_built(a.dnnkit)]:
        raise SystemExit(f"not built: {'; '.join(missing)}")


def compare_results(a):
    rows, wrong = [], 0
    for name, variants in all_variants(a).items():
        require_built(a, variants)
        net = network(name, a.work / name)
        deviations = []
        for v in variants:
            progress(f"running {v.name()}")
            deviations.append(net.deviation(v))
            wrong += not deviations[-1] <= TOLERANCE
            progress("")
            print(json.dumps({"name": v.name(), "deviation": deviations[-1]}), flush=True)
        rows.append([name, len(variants), *(f"{d:.0e}" for d in (deviations[0], max(deviations)))])
    table(["", "programs", "deviation by all passes", "largest"], rows)
    return 1 if wrong else 0


def measure(a):
    wrong = 0
    measured = results(a)
    for name, (by_all, *others) in all_variants(a).items():
        require_built(a, [by_all, *others])
        wanted = [v for v in others if key_of(by_all, v) not in measured]
        if not wanted:
            continue
        net = network(name, a.work / name)
        deviation_by_all = net.deviation(by_all)
        for v in wanted:
            progress(f"measuring {v.name()}")
            key, programs = key_of(by_all, v)
            result = {"name": key, "programs": programs, "kernels": v.kernels, "predicted": round(v.predicted, 4),
                      "deviation": net.deviation(v), "deviation_by_all": deviation_by_all}
            result |= in_turns_with_all(net, by_all, v)
            wrong += not max(result["deviation"], deviation_by_all) <= TOLERANCE
            progress("")
            print(json.dumps(result), flush=True)
            with open(results_file(a), "a") as file:
                file.write(json.dumps(result) + "\n")
    return 1 if wrong else 0


def print_times(a):
    measured, variants = results(a), all_variants(a)

    def result_of(v):
        by_all = variants[v.model][0]
        return measured.get(key_of(by_all, v)) if by_all.is_built(a.dnnkit) and v.is_built(a.dnnkit) else None

    def row(heading, key, text):
        measured_of = [[r[key] for r in map(result_of, v[1:]) if r] for v in variants.values()]
        return [heading, *(text(numbers) if numbers else "" for numbers in measured_of)]

    table(["", *variants], [row("by all passes, ms", "all_ms", lambda times: f"{statistics.median(times):.1f}"),
                            row("largest deviation without a pass", "deviation", lambda d: f"{max(d):.0e}")])
    print()
    print_by_pass(a, variants, lambda v: f"{r['ratio']:.2f}" if (r := result_of(v)) else "")


STEPS = {"plan": plan, "build": build, "compare": compare_results, "measure": measure, "table": print_times}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for weights, programs and results")
    parser.add_argument("--tool", type=pathlib.Path, required=True, help="the program dnnkit")
    parser.add_argument("--passes", type=lambda names: names.split(","), default=[], help="those to leave out in turn, with "
                        "commas between them; all that can be left out when none is named")
    parser.add_argument("--jobs", type=int, default=1, help="programs to compile at once, each by one compiler")
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("names", nargs="*", metavar="MODEL", help=f"of the zoo; {', '.join(MODELS)} when none is named")
    a = parser.parse_args()
    a.dnnkit = tool(a.tool)
    a.work.mkdir(parents=True, exist_ok=True)
    return STEPS[a.step](a)


if __name__ == "__main__":
    sys.exit(main())
