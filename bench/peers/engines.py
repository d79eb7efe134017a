# SPDX-License-Identifier: MIT
"""dnnkit and other engines on the same models and inputs, in turns: one JSON line a model, then a table and a plot.

Each engine runs in a process of its own (engine.py), which is stopped while it is not its turn, so that its threads do
not spin in that of another; dnnkit is the program that `dnnkit build` makes. All are pinned to as many processors as they
have threads; those of all engines spin while they wait, dnnkit's for SPIN microseconds at most. Times are medians of
turns, ratios the medians of the turns' ratios; outputs are compared with ONNX Runtime's, relative to the largest
magnitude, and what deviates by more than 1e-3 is no result. The floor is what the multiply-adds of convolutions and
products take at the processor's peak, which is measured between the models: Winograd's algorithm goes below it.
`first`: from the file to the first result, without the start of Python, but with that of a dnnkit program and its
outputs written to files; `memory`: at its peak, of a dnnkit program all, of others what goes beyond Python with the
engine imported. Both are medians of some starts, in turns.

With --avx2, dnnkit's programs have kernels for AVX2 alone, and the peer is OpenVINO, which is told to have no more
(ONEDNN_MAX_CPU_ISA); other engines take whatever instructions the processor has.
"""
import argparse
import json
import math
import mmap
import os
import pathlib
import select
import signal
import statistics
import subprocess
import sys
import time

import numpy as np
import onnx
import onnxruntime

from engine import ENGINES, file_name

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/zoo"), str(ROOT / "tests/support")]
from materialize import feed, materialize
from runtime_peer import compile_program, last_line, on_processors, progress, runtime_of

SPIN = 200  # a loop of short kernels finds threads awake; others do so unasked
MODELS = ["mobilenet_v2", "efficientnet_b0", "resnet50", "resnext50_32x4d", "regnet_y_3_2gf", "convnext_tiny", "vgg16",
          "unet", "yolov8n", "fst", "wdsr_b", "swin_t", "vit_b_16", "bert_base", "tinybert", "gpt2",
          "whisper_tiny_encoder", "conformer_s", "depth_anything_s", "s3d", "clip_text", "c3d"]
OURS, TRUTH = "dnnkit", "onnxruntime"
TOLERANCE = 1e-3
WITHIN_AVX2 = {"ONEDNN_MAX_CPU_ISA": "AVX2"}  # for the engines that heed it
PATIENCE = 1800  # seconds for whatever an engine is asked; converting takes the longest


def pinned(processors):
    return on_processors(lambda given: processors)


class peer:
    """An engine's process."""

    def __init__(self, name, model, threads, processors, environment):
        with pinned(processors):
            self.process = subprocess.Popen(
                [sys.executable, str(pathlib.Path(__file__).with_name("engine.py")), name, str(model), str(model.parent),
                 str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=open(model.with_name(f"{name}.log"), "w"), text=True, env=os.environ | environment)
        self.said = self.answer()
        self.pause()

    def answer(self):
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            self.end()
            return {"failed": f"no answer in {PATIENCE} s"}
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"failed": f"ended with {self.process.wait()}"}

    def pause(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)

    def ask(self, order, argument):
        self.process.send_signal(signal.SIGCONT)
        print(order, argument, file=self.process.stdin, flush=True)
        said = self.answer()
        self.pause()
        if "failed" in said:
            raise RuntimeError(said["failed"])
        return said

    def milliseconds(self, runs):
        return self.ask("time", runs)["ms"]

    def outputs(self, folder, count):
        folder.mkdir(exist_ok=True)
        self.ask("save", folder)
        return [np.load(folder / f"{i}.npy") for i in range(count)]

    def end(self):
        self.process.kill()
        self.process.wait()


def peak_mb_of(process):
    """Megabytes that were resident at most; 0 of one that has ended."""
    try:
        status = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return max((int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM:")), default=0)


class own:
    """A program that `dnnkit build` made."""

    def __init__(self, program, model, names, threads, processors):
        self.command = [str(program), *(w for x in names for w in ("--input", f"{x}={model.parent / file_name(x)}"))]
        if threads > 1:
            self.command += ["--threads", str(threads), "--spin", str(SPIN)]
        self.processors = processors
        with pinned(self.processors):
            begin = time.perf_counter()
            child = subprocess.Popen([*self.command, "--output", str(model.with_name("own"))], stdout=subprocess.DEVNULL,
                                     stderr=subprocess.PIPE, text=True)
        # what the system says of a child that has ended counts Python, which it was before it was the program
        peak_mb = 0
        while child.poll() is None:
            peak_mb = max(peak_mb, peak_mb_of(child.pid))
            time.sleep(0.002)
        self.said = {"first_ms": 1e3 * (time.perf_counter() - begin), "load_ms": 0, "peak_mb": peak_mb}
        if child.returncode:
            self.said = {"failed": last_line(child.stderr.read())}

    def milliseconds(self, runs):
        with pinned(self.processors):
            done = subprocess.run([*self.command, "--time", str(runs)], stdout=subprocess.PIPE, text=True, check=True)
        return float(last_line(done.stdout).split()[0])

    def end(self):
        pass


def deviation(expected, found):
    worst = 0.0
    for want, y in zip(expected, found):
        if y.size != want.size:
            raise RuntimeError(f"{y.size} elements, expected {want.size}")
        difference = np.abs(y.ravel().astype(np.float64) - want.ravel())
        worst = max(worst, float(difference.max()) / max(float(np.abs(want).max()), 1e-30) if y.size else 0.0)
    return worst if math.isfinite(worst) else float("inf")


def multiply_adds(path):
    """Of convolutions and products. Shapes are those that ONNX infers once ONNX Runtime has folded what is constant."""
    folded = path.with_name("folded.onnx")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(folded)
    options.log_severity_level = 3
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    inferred = onnx.shape_inference.infer_shapes(onnx.load(folded, load_external_data=False), data_prop=True).graph
    folded.unlink()
    shapes = {t.name: list(t.dims) for t in inferred.initializer}
    for v in [*inferred.input, *inferred.value_info, *inferred.output]:
        shapes[v.name] = [d.dim_value for d in v.type.tensor_type.shape.dim]
    total = 0
    for n in inferred.node:
        if n.op_type in ("Conv", "ConvTranspose", "MatMul", "Gemm") and 0 in [s for x in [*n.input[:2], *n.output] for s in shapes[x]]:
            raise RuntimeError(f"the shapes of {n.op_type} {n.name} are not known")
        size = lambda name: math.prod(shapes[name])
        if n.op_type == "Conv":
            total += size(n.output[0]) * math.prod(shapes[n.input[1]][1:])
        elif n.op_type == "ConvTranspose":
            total += size(n.input[0]) * math.prod(shapes[n.input[1]][1:])
        elif n.op_type == "MatMul":
            total += size(n.output[0]) * shapes[n.input[0]][-1]
        elif n.op_type == "Gemm":
            transposed = any(a.name == "transA" and a.i for a in n.attribute)
            total += size(n.output[0]) * shapes[n.input[0]][0 if transposed else 1]
    if total == 0:
        raise RuntimeError("no shape of a product is known")
    return total


def prepared(name, a):
    """The model with its weights, inputs and the outputs that are expected."""
    path = materialize(ROOT / f"tests/zoo/{name}.onnx", a.work / name)
    session = runtime_of(path)
    values = feed(name, session, {})
    for x, value in values.items():
        np.save(path.with_name(file_name(x)), value)
    path.with_name("inputs.json").write_text(json.dumps(list(values)))
    path.with_name("outputs.json").write_text(json.dumps([y.name for y in session.get_outputs()]))
    return path, list(values), [y.name for y in session.get_outputs()], session.run(None, values)


def touch_memory():
    """Two gigabytes of free memory: a virtual machine may have given back to its host what has been free for seconds, and
    such pages take ten times as long to come."""
    with mmap.mmap(-1, 2 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_HUGEPAGE)
        np.frombuffer(memory, dtype=np.uint8)[:: mmap.PAGESIZE] = 1


def started(makers, starts):
    """The sides, each made so many times, in turns. What the last ones say is the median of all."""
    said, sides = {engine: [] for engine in makers}, {}
    for start in range(starts):
        for engine in sorted(makers, reverse=start % 2 == 1):
            progress(f"{engine}, start {start + 1} of {starts}")
            touch_memory()
            side = makers[engine]()
            said[engine].append(side.said)
            if start + 1 < starts:
                side.end()
            sides[engine] = side
    for engine, side in sides.items():
        if not any("failed" in x for x in said[engine]):
            side.said = {what: statistics.median(x[what] for x in said[engine]) for what in side.said}
    return sides


def sides_of(name, path, names, outputs, expected, a, result):
    """The engines that compute what is expected, by name."""
    processors = set(a.processors)
    program = path.with_name("program_avx2" if a.avx2 else "program")
    done, text, compiled = compile_program(a.tool, path, program, a.reuse, ["--isa", "avx2"] if a.avx2 else [])
    if not done:
        raise RuntimeError(f"{name}: not compiled: {text[-600:]}")
    result["compile_s"] = compiled["compile_s"]
    environment = WITHIN_AVX2 if a.avx2 else {}
    makers = {engine: lambda engine=engine: peer(engine, path, a.threads, processors, environment)
              for engine in a.engines}
    makers[OURS] = lambda: own(program, path, names, a.threads, processors)
    sides = {}
    for engine, side in started(makers, a.starts).items():
        said = result["engines"][engine] = dict(side.said)
        if "failed" not in said:
            try:
                found = ([np.load(path.with_name("own") / file_name(y)) for y in outputs] if engine == OURS else
                         side.outputs(path.with_name(engine + "_outputs"), len(outputs)))
                said["deviation"] = deviation(expected, found)
                if said["deviation"] > TOLERANCE:
                    said["failed"] = f"deviates by {said['deviation']:.0e}"
            except (RuntimeError, OSError, ValueError) as failure:
                said["failed"] = str(failure)[:200]
        if "failed" in said:
            side.end()
        else:
            sides[engine] = side
    return sides


def measure(name, a):
    progress(f"{name}: weights")
    path, names, outputs, expected = prepared(name, a)
    result = {"name": name, "threads": a.threads, "engines": {}}
    with pinned({a.processors[0]}):
        result["peak_gflops"] = json.loads(subprocess.run([a.peak], stdout=subprocess.PIPE, check=True).stdout)["gflops"]
    result["floor_ms"] = 2 * multiply_adds(path) / result["peak_gflops"] / 1e6 / a.threads
    sides = sides_of(name, path, names, outputs, expected, a, result)
    try:
        progress(f"{name}: measuring")
        once = max(side.milliseconds(1) for side in sides.values())
        runs = max(1, min(50, int(a.turn_ms / once)))
        turns = {engine: [] for engine in sides}
        for turn in range(a.turns):
            for engine in sorted(sides, reverse=turn % 2 == 1):
                turns[engine].append(sides[engine].milliseconds(runs))
    finally:
        for side in sides.values():
            side.end()
    for engine, times in turns.items():
        result["engines"][engine] |= {"ms": statistics.median(times), "runs": runs * a.turns}
    if OURS in turns and len(turns) > 1:
        result["ratios"] = {engine: statistics.median(x / y for x, y in zip(turns[OURS], times))
                            for engine, times in turns.items() if engine != OURS}
    return result


def rounded(value):
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for weights, programs and results")
    parser.add_argument("--tool", type=pathlib.Path, required=True, help="the program dnnkit")
    parser.add_argument("--peak", type=pathlib.Path, required=True, help="the program bench_peak")
    parser.add_argument("--engines", type=lambda names: names.split(","), help=", ".join(ENGINES))
    parser.add_argument("--avx2", action="store_true", help="no instructions beyond AVX2, beside OpenVINO")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--starts", type=int, default=3, help="so many times each engine goes from the file to a result")
    parser.add_argument("--turn-ms", type=float, default=500, help="what the runs of a turn take, about")
    parser.add_argument("--reuse", action="store_true", help="run the programs that were compiled before")
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"of the zoo; when none is named: {', '.join(MODELS)}")
    a = parser.parse_args()
    available = sorted(os.sched_getaffinity(0), reverse=True)
    if a.threads > len(available):
        parser.error(f"{a.threads} threads need as many processors, and there are {len(available)}")
    heed = ["openvino"] if a.avx2 else ENGINES
    a.engines = a.engines or heed
    unknown = [e for e in a.engines if e not in heed]
    if unknown:
        parser.error(f"there is no engine called {unknown[0]}: {', '.join(heed)}")
    a.processors = available[:a.threads]
    a.work = a.work.resolve()  # peers convert in folders of their own
    a.work.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in a.models or MODELS:
        try:
            result = rounded(measure(name, a))
        except (RuntimeError, OSError, ValueError) as failure:
            result = {"name": name, "threads": a.threads, "failed": str(failure)[:600]}
        progress("")
        failed += "failed" in result or "failed" in result["engines"][OURS]
        with open(a.work / f"results_{a.threads}{'_avx2' if a.avx2 else ''}.jsonl", "a") as file:
            file.write(json.dumps(result) + "\n")
        print(json.dumps(result), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
