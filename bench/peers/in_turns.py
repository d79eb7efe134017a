# SPDX-License-Identifier: MIT
"""Times models, compiled by `dnnkit build`, against ONNX Runtime on the same values, taking turns on one core, one thread.

A turn is one run of the model's program with --time, which prints the median of `runs` runs, and as many runs of ONNX
Runtime here; the turns' order alternates. The ratio is the median over the turns of dnnkit's time divided by ONNX
Runtime's, so that a change of the machine's speed during the run touches both sides.
"""

import os
import pathlib
import statistics
import subprocess
import time

import numpy
import onnx
import onnxruntime

TOOL = os.environ.get("DNNKIT_TOOL", "build/release/bin/dnnkit")
TURNS = 7


def built(folder, name, model):
    """The model's file and its program, which is built unless one of today's tool is there."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path, program = folder / f"{name}.onnx", folder / name
    onnx.save(model, path)
    if not program.exists() or program.stat().st_mtime < os.stat(TOOL).st_mtime:
        subprocess.run([TOOL, "build", path, "-o", program], check=True, stdout=subprocess.DEVNULL)
    return path, program


def compare(folder, name, model, inputs, runs):
    """One JSON object: times in ms, their ratio, and how far the first outputs are apart. `inputs`: arrays by name."""
    path, program = built(folder, name, model)
    output = model.graph.output[0].name
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    command = [program, "--time", str(runs), "--output", folder]
    for key, value in inputs.items():
        numpy.save(f"{folder}/{key}.npy", value)
        command += ["--input", f"{key}={folder}/{key}.npy"]

    def of_peer():
        times = []
        for _ in range(runs):
            start = time.perf_counter()
            expected = session.run([output], inputs)[0]
            times.append(1e3 * (time.perf_counter() - start))
        return statistics.median(times), expected

    def of_dnnkit():
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        return float(printed.strip().splitlines()[-1].split()[0]), numpy.load(f"{folder}/{output}.npy")

    dnnkit, peer = [], []
    for turn in range(TURNS):
        sides = [lambda: dnnkit.append(of_dnnkit()), lambda: peer.append(of_peer())]
        for side in sides if turn % 2 == 0 else reversed(sides):
            side()
    result, expected = (numpy.asarray(x[0][1], numpy.float64) for x in (dnnkit, peer))
    return {
        "name": name,
        "dnnkit_ms": round(statistics.median(t for t, _ in dnnkit), 4),
        "onnxruntime_ms": round(statistics.median(t for t, _ in peer), 4),
        "ratio": round(statistics.median(a / b for (a, _), (b, _) in zip(dnnkit, peer)), 3),
        "deviation": float(numpy.abs(result - expected).max()) if result.size else 0.0,
    }
