# SPDX-License-Identifier: MIT
"""Compiles each graph of the zoo, runs it, and compares results and time with ONNX Runtime: one JSON object a line.

status: ok | wrong (the results differ) | unsupported | not compiled | failed (the program stopped), with `reason`; planned:
the graph went through all passes, without weights: with --plan, and where weights are too large to make up.
"""
import argparse
import itertools
import json
import pathlib
import re
import sys

import numpy as np
import onnx

from materialize import feed, materialize

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from runtime_peer import call, compare, compile_program, file_name, last_line, measure, progress, runtime_of

LARGE = {"sd_unet", "gptneo_1_3b"}  # weights beyond 3 GB: planned only
PICTURES = [{"H": 1, "W": 1}, {"H": 160, "W": 224}, {"H": 224, "W": 224}]
TEXTS = [{"L": 1}, {"L": 37}, {"L": 128}]
SIZES = {  # of graphs with symbols; the smallest legal ones first
    "resnet50_dyn": PICTURES,
    "unet_dyn": [{"H": 16, "W": 16}, {"H": 128, "W": 160}, {"H": 256, "W": 256}],
    "bert_base_dyn": TEXTS, "tinybert_dyn": TEXTS, "distilbert_dyn": TEXTS, "gpt2_dyn": TEXTS,
    "skipnet": [{"H": 224, "W": 224}],
}
FACTORS = {"skipnet": [1, -1]}  # of the inputs: between the two, its conditions differ


def convolutions_wanted(path, values):
    """The conditions of all If's as ONNX Runtime finds them, and the number of convolutions in what they let run."""
    model = onnx.load(path, load_external_data=False)
    switches = [n for n in model.graph.node if n.op_type == "If"]
    if not switches:
        return None
    probe = path.with_name("conditions.onnx")  # beside the weights
    for n in switches:
        model.graph.output.append(onnx.helper.make_tensor_value_info(n.input[0], onnx.TensorProto.BOOL, None))
    onnx.save(model, probe)
    taken = [bool(c.item()) for c in runtime_of(probe).run([n.input[0] for n in switches], values)]

    def count(nodes):
        return sum(n.op_type == "Conv" for n in nodes)

    wanted = count(model.graph.node)
    for n, condition in zip(switches, taken):
        name = "then_branch" if condition else "else_branch"
        wanted += count(next(a.g for a in n.attribute if a.name == name).node)
    return taken, wanted


def check_branches(path, command, values, result):
    """Notes which branches are taken, and whether kernels of those alone have run."""
    expected = convolutions_wanted(path, values)
    if expected is None:
        return
    trace = path.with_name("trace.json")
    status, text, _, _ = call([*command, "--trace", trace], 600)
    if status:
        raise RuntimeError(last_line(text))
    kernels = [e["args"]["operators"].split() for e in json.loads(trace.read_text())["traceEvents"]]
    taken, wanted = expected
    result |= {"taken": taken, "kernels_run": len(kernels)}
    # wherever in a kernel they stand: behind what it reads, or in one of its stages
    found = sum(operators.count("Conv") for operators in kernels)
    if found != wanted:
        result |= {"status": "wrong", "reason": f"{found} convolutions have run, expected {wanted}"}


def plan(name, graph, tool):
    """What the passes make of a graph whose weights need not be there."""
    status, text, seconds, memory = call([tool, "explain", graph], 600)  # `check` wants the weights
    if status == 1:
        return {"name": name, "status": "unsupported", "reason": " | ".join(text.strip().splitlines()[:20])[:2000]}
    if status:
        return {"name": name, "status": "failed", "reason": last_line(text)}
    kinds = {k: (int(a), int(b)) for k, a, b in re.findall(r"^(\w+) +(\d+) +(\d+)$", text, re.MULTILINE)}
    result = {"name": name, "status": "planned", "operators_in_file": kinds["all"][0], "operators": kinds["all"][1],
              "shape_operators": sum(kinds.get(k, (0, 0))[1] for k in ("Shape", "Size", "ConstantOfShape"))}
    for label, key in (("operators, kernels", "kernels"), ("kernels to instantiate", "distinct_kernels"),
                       ("bytes of the arena", "arena_bytes")):
        last = re.search(rf"^{label} .*?([\d,]+)$", text, re.MULTILINE)
        result[key] = int(last[1].replace(",", "")) if last else None
    if result["shape_operators"]:
        result |= {"status": "wrong", "reason": "operators that only compute shapes are left"}
    return result | {"plan_s": round(seconds, 2), "plan_mb": round(memory)}


def run(name, graph, work, tool, a):
    """Yields one result for each set of sizes."""
    if a.plan or name in LARGE:
        yield plan(name, graph, tool)
        return
    folder = work / name
    progress(f"{name}: weights")
    path = materialize(graph, folder)
    on_device = a.target != "cpu"
    program = folder / (f"program_{a.target}" if on_device else "program")
    status, text, _, _ = call([tool, "check", path], 600)
    if status:
        yield {"name": name, "status": "unsupported", "reason": " | ".join(text.strip().splitlines()[:20])[:2000]}
        return
    progress(f"{name}: compiling")
    done, text, compiled = compile_program(tool, path, program, a.reuse, ["--target", a.target] if on_device else [])
    _, refused, problems = text.partition("has no kernels for this model:")
    if not done and refused:
        yield {"name": name, "status": "unsupported", "reason": " | ".join(p.strip() for p in problems.strip().splitlines())}
        return
    if not done:
        errors = re.findall(r"(?:error|fatal error): .*", text) or [last_line(text) or "stopped after 1200 s"]
        yield {"name": name, "status": "not compiled", "reason": errors[0][:600], **compiled}
        return
    _, text, _, _ = call([program, "--help"], 60)
    kernels = re.search(r"(\d+) kernels", text)
    compiled |= {"kernels": int(kernels[1]) if kernels else None, "binary_kb": program.stat().st_size // 1024}
    session = runtime_of(path)
    for sizes, factor in itertools.product(SIZES.get(name, [{}]), FACTORS.get(name, [1])):
        label = name + "".join(f"@{k}={v}" for k, v in sizes.items()) + ("" if factor == 1 else f"@x{factor}")
        progress(f"{label}: running")
        result = {"name": label, "status": "ok", "max_abs_err": None, "rel_err": None, **compiled}
        try:
            values = {x: v * np.asarray(factor, v.dtype) for x, v in feed(name, session, sizes).items()}
            expected = session.run(None, values)
            command = [program]
            for x, value in values.items():
                np.save(folder / file_name(x), value)
                command += ["--input", f"{x}={folder / file_name(x)}"]
            if a.device:
                command += ["--device", a.device]
            output = folder / "outputs"
            status, text, _, _ = call([*command, "--output", output], 600)
            if status:
                raise RuntimeError(last_line(text) or f"exit status {status}")
            absolute, relative = compare(expected, output, session)
            result |= {"max_abs_err": absolute, "rel_err": relative}
            if not relative <= 1e-4:
                result["status"] = "wrong"
            check_branches(path, command, values, result)
            if not a.no_time:
                ours, theirs = measure(command, session, values)
                result |= {"dnnkit_ms": ours, "ort_ms": round(theirs, 3), "ratio": round(ours / theirs, 3)}
        except (RuntimeError, ValueError, OSError) as failure:
            result |= {"status": "failed", "reason": str(failure)[:600]}
        yield result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=pathlib.Path, default=pathlib.Path(__file__).parent, help="folder of .onnx files")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for weights and programs")
    parser.add_argument("--tool", type=pathlib.Path, required=True, help="the program dnnkit")
    parser.add_argument("--no-time", action="store_true", help="compare results only")
    parser.add_argument("--reuse", action="store_true", help="run the programs that were compiled before")
    parser.add_argument("--plan", action="store_true", help="read, check and plan only: no weights, no compiler")
    parser.add_argument("--target", choices=["cpu", "opencl", "opencl_images"], default="cpu", help="what the programs run on")
    parser.add_argument("--device", help="for the targets of OpenCL: the device, by its number or a part of its name")
    parser.add_argument("names", nargs="*", help="graphs; all of the folder when none is named")
    a = parser.parse_args()
    if a.device and a.target == "cpu":
        parser.error("--device is for the targets of OpenCL")
    names = a.names or sorted(p.stem for p in a.graphs.glob("*.onnx"))
    failures = 0
    for name in names:
        for result in run(name, a.graphs / f"{name}.onnx", a.work, a.tool, a):
            progress("")
            print(json.dumps(result), flush=True)
            failures += result["status"] not in ("ok", "planned")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
