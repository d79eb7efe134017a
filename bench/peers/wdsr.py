# SPDX-License-Identifier: MIT
"""Times dnnkit's super-resolution network against ONNX Runtime on the same pixels, taking turns on one core.

A turn is one run of build/release/bin/super_resolution --time, which warms up and prints the median of RUNS runs of the
network alone, and as many runs of ONNX Runtime here; the turns' order alternates. The ratio is the median over the turns of
dnnkit's time divided by ONNX Runtime's, so that a change of the machine's speed during the run touches both sides.
"""

import json
import os
import statistics
import subprocess
import sys
import time

import numpy
import onnxruntime
from PIL import Image

PHOTOGRAPHS = ["chelsea_low", "coffee_low"]
TURNS = 11
RUNS = 11
WARM_UP_RUNS = 3


class Peer:
    """The ONNX graph in ONNX Runtime with one thread, its input and output bound so that a run copies nothing."""

    def __init__(self, model, pixels):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        height, width = pixels.shape[:2]
        self.input = numpy.ascontiguousarray(pixels.astype(numpy.float32).transpose(2, 0, 1)[None] / numpy.float32(255))
        self.output = numpy.empty((1, 3, 2 * height, 2 * width), numpy.float32)
        self.binding = self.session.io_binding()
        for bind, name, array in [
            (self.binding.bind_input, "x", self.input),
            (self.binding.bind_output, "y", self.output),
        ]:
            bind(name, "cpu", 0, numpy.float32, array.shape, array.ctypes.data)

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def milliseconds(self):
        for _ in range(WARM_UP_RUNS):
            self.run()
        times = []
        for _ in range(RUNS):
            start = time.perf_counter()
            self.run()
            times.append(1e3 * (time.perf_counter() - start))
        return statistics.median(times)

    def image(self):
        """The result as bytes; the graph leaves out the example's clamp to 0..1."""
        return numpy.rint(self.output[0].transpose(1, 2, 0).clip(0, 1) * 255).astype(int)


def dnnkit_milliseconds(photograph, result):
    command = ["build/release/bin/super_resolution", photograph, result, "--threads", "1", "--time"]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    # The last line holds the time; its first number is in ms, whatever words stand beside it.
    words = printed.strip().splitlines()[-1].replace(":", " ").split()
    return next(float(word) for word in words if word.replace(".", "", 1).isdigit())


def compare(name):
    photograph, result = f"examples/assets/{name}.png", f"build/peers/{name}_x2.png"
    pixels = numpy.asarray(Image.open(photograph).convert("RGB"))
    peer = Peer("bench/peers/assets/wdsr_x2.onnx", pixels)
    dnnkit, ort = [], []
    for turn in range(TURNS):
        sides = [
            lambda: dnnkit.append(dnnkit_milliseconds(photograph, result)),
            lambda: ort.append(peer.milliseconds()),
        ]
        for side in sides if turn % 2 == 0 else reversed(sides):
            side()
        print(f"{name}: turn {turn + 1} of {TURNS}: {dnnkit[-1]:.2f} ms, {ort[-1]:.2f} ms", file=sys.stderr)
    ratios = sorted(ours / theirs for ours, theirs in zip(dnnkit, ort))
    ours = numpy.asarray(Image.open(result).convert("RGB")).astype(int)
    return {
        "name": name,
        "width": pixels.shape[1],
        "height": pixels.shape[0],
        "dnnkit_ms": round(statistics.median(dnnkit), 3),
        "ort_ms": round(statistics.median(ort), 3),
        "ratio": round(statistics.median(ratios), 4),
        "ratio_range": [round(ratios[0], 4), round(ratios[-1], 4)],
        "turns": TURNS,
        "runs_a_turn": RUNS,
        "threads": 1,
        "onnxruntime": onnxruntime.__version__,
        "largest_byte_difference": int(numpy.abs(ours - peer.image()).max()),
    }


def main():
    core = int(sys.argv[1]) if len(sys.argv) > 1 else max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})  # inherited by the processes started here and by ONNX Runtime's threads
    for name in PHOTOGRAPHS:
        print(json.dumps(compare(name)), flush=True)


main()
