# SPDX-License-Identifier: MIT
"""Times recurrent layers, compiled by `dnnkit build`, against ONNX Runtime on the same values, taking turns on one core.

A turn is one run of the layer's program with --time, which prints the median of RUNS runs, and as many runs of ONNX
Runtime here; the turns' order alternates. The ratio is the median over the turns of dnnkit's time divided by ONNX
Runtime's, so that a change of the machine's speed during the run touches both sides.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path("build/peers/recurrent")
TOOL = os.environ.get("DNNKIT_TOOL", "build/release/bin/dnnkit")
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
LAYERS = [  # operator, steps, batch, inputs, units, directions
    (operator, steps, 1, inputs, units, directions)
    for operator in ("LSTM", "GRU")
    for steps, inputs, units in ((512, 512, 512), (20, 512, 256))
    for directions in (1, 2)
] + [("LSTM", 64, 16, 128, 128, 1), ("LSTM", 1, 1, 128, 128, 1), ("RNN", 100, 1, 256, 256, 1)]
TURNS = 7



def model_of(operator, steps, batch, inputs, units, directions):
    """A graph of one layer, all of whose states are its output; a GRU resets sums, as PyTorch's does."""
    random, gates = numpy.random.default_rng(1), GATES[operator]

    def weight(name, *shape):
        bound = 1 / numpy.sqrt(units)
        return numpy_helper.from_array(random.uniform(-bound, bound, shape).astype(numpy.float32), name)

    attributes = {"hidden_size": units, "direction": "bidirectional" if directions == 2 else "forward"}
    if operator == "GRU":
        attributes["linear_before_reset"] = 1
    graph = helper.make_graph(
        [helper.make_node(operator, ["x", "w", "r", "b"], ["y"], **attributes)],
        operator,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [steps, batch, inputs])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [steps, directions, batch, units])],
        [
            weight("w", directions, gates * units, inputs),
            weight("r", directions, gates * units, units),
            weight("b", directions, 2 * gates * units),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def compare(layer):
    operator, steps, batch, inputs, units, directions = layer
    name = f"{operator.lower()}_{'x'.join(map(str, layer[1:]))}"
    path, program = FOLDER / f"{name}.onnx", FOLDER / name
    onnx.save(model_of(*layer), path)
    x = numpy.random.default_rng(2).standard_normal((steps, batch, inputs)).astype(numpy.float32)
    numpy.save(FOLDER / "x.npy", x)
    if not program.exists() or program.stat().st_mtime < os.stat(TOOL).st_mtime:
        subprocess.run([TOOL, "build", path, "-o", program], check=True, stdout=subprocess.DEVNULL)

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    runs = 9 if steps * units > 100_000 else 201

    def of_peer():
        times = []
        for _ in range(runs):
            start = time.perf_counter()
            expected = session.run(None, {"x": x})[0]
            times.append(1e3 * (time.perf_counter() - start))
        return statistics.median(times), expected

    def of_dnnkit():
        command = [program, "--input", f"x={FOLDER}/x.npy", "--time", str(runs), "--output", FOLDER]
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        return float(printed.strip().splitlines()[-1].split()[0]), numpy.load(FOLDER / "y.npy")

    dnnkit, peer = [], []
    for turn in range(TURNS):
        sides = [lambda: dnnkit.append(of_dnnkit()), lambda: peer.append(of_peer())]
        for side in sides if turn % 2 == 0 else reversed(sides):
            side()
    result = {
        "name": name,
        "dnnkit_ms": round(statistics.median(t for t, _ in dnnkit), 4),
        "onnxruntime_ms": round(statistics.median(t for t, _ in peer), 4),
        "ratio": round(statistics.median(a / b for (a, _), (b, _) in zip(dnnkit, peer)), 3),
        "deviation": float(numpy.abs(dnnkit[0][1] - peer[0][1]).max()),
    }
    print(json.dumps(result), flush=True)


def main():
    os.sched_setaffinity(0, {int(sys.argv[1]) if len(sys.argv) > 1 else min(os.sched_getaffinity(0))})
    FOLDER.mkdir(parents=True, exist_ok=True)
    for layer in LAYERS:
        if len(sys.argv) < 3 or any(word in f"{layer[0].lower()}_{'x'.join(map(str, layer[1:]))}" for word in sys.argv[2:]):
            compare(layer)


main()
