# SPDX-License-Identifier: MIT
"""Models of the zoo as ONNX Runtime's tools quantise them to 8 bits, compiled by `dnnkit build`, against ONNX Runtime.

KIND is dynamic (quantize_dynamic), qdq or qoperator (quantize_static, calibrated on random inputs, a scale for each
output channel of weights). Files, programs and inputs go to the work folder, and files that are there are kept.

step is the scale in which the output was quantised last; of an output that was not, the 255th part of its range.
steps_off is the largest difference between both in steps, steps_rms its root mean square. Weights are random, and such
networks carry the roundings of one layer through all others: what is more than a step off is compared with what rounding
does to ONNX Runtime itself. peer_steps_off is the difference between it and itself without its optimiser, which computes
quantised products in floats; moved_steps_off is the largest of three tries in which each float of the file and of the
inputs is changed by at most one unit in its last place. status: ok (one step at most) | sensitive (no more than the
larger of these two) | wrong. Times are of one thread, taken in turns, OpenVINO's too if Python has it.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

import numpy
import onnx
import onnxruntime
from onnxruntime import quantization

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/zoo"), str(ROOT / "tests/support")]
from materialize import feed, materialize
from runtime_peer import (compile_program, file_name, in_turns, last_line, milliseconds, milliseconds_of_program,
                          one_processor, progress, ratio_of, runtime_of)

try:
    import openvino
except ImportError:
    openvino = None

MODELS = ["resnet50", "mobilenet_v2", "bert_base", "vit_b_16", "gpt2", "whisper_tiny_encoder"]
KINDS = ["dynamic", "qdq", "qoperator"]
CALIBRATIONS, TURNS, TRIES = 2, 7, 3
PROVIDERS = ["CPUExecutionProvider"]


class random_inputs(quantization.CalibrationDataReader):
    """The model's inputs as the zoo makes them, and the same in other orders."""

    def __init__(self, name, path):
        values = feed(name, runtime_of(path), {})
        random = numpy.random.default_rng(1)
        shuffled = [{k: random.permuted(v) for k, v in values.items()} for _ in range(CALIBRATIONS - 1)]
        self.inputs = iter([values, *shuffled])

    def get_next(self):
        return next(self.inputs, None)


def quantise(name, kind, path, plain):
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "dynamic":  # ONNX Runtime has no ConvInteger of signed weights
        quantization.quantize_dynamic(plain, path, weight_type=quantization.QuantType.QUInt8)
        return
    form = quantization.QuantFormat.QDQ if kind == "qdq" else quantization.QuantFormat.QOperator
    quantization.quantize_static(plain, path, random_inputs(name, plain), quant_format=form, per_channel=True,
                                 activation_type=quantization.QuantType.QUInt8,
                                 weight_type=quantization.QuantType.QInt8)


def step_of(path, output, expected):
    graph = onnx.load(path, load_external_data=False).graph
    producer = next((n for n in graph.node if output in n.output), None)
    if producer is not None and producer.op_type == "DequantizeLinear":
        return float(next(onnx.numpy_helper.to_array(t) for t in graph.initializer if t.name == producer.input[1]).item())
    return float(expected.max() - expected.min()) / 255


def in_steps(path, outputs, expected, found):
    """The differences of all elements of all outputs, in steps."""
    return numpy.concatenate([
        (numpy.abs(x.astype(numpy.float64) - y) / step_of(path, o.name, y)).ravel()
        for o, x, y in zip(outputs, found, expected)
    ])  # fmt: skip


def last_place_changed(array, random):
    """Each float one unit up, one down, or as it was."""
    if array.dtype != numpy.float32:
        return array
    step = random.integers(-1, 2, array.shape)
    there = numpy.where(step > 0, numpy.float32(numpy.inf), numpy.float32(-numpy.inf))
    return numpy.where(step == 0, array, numpy.nextafter(array, there))


def moved_steps(path, values, expected):
    """How far ONNX Runtime's outputs move, in steps, when floats change in their last places: the most of all tries."""
    largest = 0.0
    for seed in range(TRIES):
        random = numpy.random.default_rng(seed)
        model = onnx.load(path)
        for tensor in model.graph.initializer:
            changed = last_place_changed(onnx.numpy_helper.to_array(tensor), random)
            tensor.CopyFrom(onnx.numpy_helper.from_array(changed, tensor.name))
        session = onnxruntime.InferenceSession(model.SerializeToString(), quiet_options(), PROVIDERS)
        found = session.run(None, {name: last_place_changed(value, random) for name, value in values.items()})
        largest = max(largest, in_steps(path, session.get_outputs(), expected, found).max())
    return float(largest)


def quiet_options():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    return options


def unoptimised(path):
    options = quiet_options()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, PROVIDERS)


def openvino_of(path):
    core = openvino.Core()
    settings = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    return core.compile_model(core.read_model(path), "CPU", settings).create_infer_request()


def compare(name, kind, a):
    folder = a.work / f"{name}_{kind}"
    path, program = folder / f"{name}_{kind}.onnx", folder / "program"
    result = {"name": name, "kind": kind}
    if not path.exists():
        progress(f"{name}: {kind}")
        quantise(name, kind, path, materialize(ROOT / f"tests/zoo/{name}.onnx", a.work / name))
    checked = subprocess.run([a.tool, "check", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if checked.returncode:
        return result | {"status": "unsupported", "reason": checked.stdout.strip()[:2000]}
    done, text, compiled = compile_program(a.tool, path, program, a.reuse)
    result |= compiled
    if not done:
        return result | {"status": "not compiled", "reason": last_line(text)}

    with one_processor():
        return result | results_and_times(name, path, program, a)


def results_and_times(name, path, program, a):
    folder, session = path.parent, runtime_of(path)
    values = feed(name, session, {})
    command = [program]
    for x, value in values.items():
        numpy.save(folder / file_name(x), value)
        command += ["--input", f"{x}={folder / file_name(x)}"]
    expected = session.run(None, values)
    command += ["--output", folder / "outputs"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    outputs = session.get_outputs()
    found = [numpy.load(folder / "outputs" / file_name(y.name)) for y in outputs]
    off = in_steps(path, outputs, expected, found)
    result = {"status": "ok", "steps_off": round(float(off.max()), 3),
              "steps_rms": round(float(numpy.sqrt(numpy.mean(off**2))), 3)}
    if not off.max() <= 1.001:
        peer = in_steps(path, outputs, expected, unoptimised(path).run(None, values)).max()
        moved = moved_steps(path, values, expected)
        result["status"] = "sensitive" if off.max() <= max(peer, moved) else "wrong"
        result |= {"peer_steps_off": round(float(peer), 3), "moved_steps_off": round(moved, 3)}
    if a.no_time:
        return result

    times = max(3, min(51, int(500 / milliseconds(lambda: session.run(None, values), 2))))
    sides = {
        "dnnkit": lambda: milliseconds_of_program(command, times),
        "onnxruntime": lambda: milliseconds(lambda: session.run(None, values), times),
    }
    if openvino is not None:
        try:
            request = openvino_of(path)
            sides["openvino"] = lambda: milliseconds(lambda: request.infer(values), times)
        except RuntimeError as refused:
            result["openvino_refuses"] = last_line(str(refused))
    turns = in_turns(sides, TURNS)
    for side, taken in turns.items():
        result[f"{side}_ms"] = round(statistics.median(taken), 3)
        if side != "dnnkit":
            result[f"ratio_{side}"] = round(ratio_of(turns["dnnkit"], taken), 3)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for files and programs")
    parser.add_argument("--tool", type=pathlib.Path, required=True, help="the program dnnkit")
    parser.add_argument("--no-time", action="store_true", help="compare results only")
    parser.add_argument("--reuse", action="store_true", help="run the programs that were compiled before")
    parser.add_argument("wanted", nargs="*", metavar="NAME[:KIND]", help="all files when none is named")
    a = parser.parse_args()
    failures = 0
    for name in MODELS:
        for kind in KINDS:
            if not a.wanted or any(w in (name, f"{name}:{kind}") for w in a.wanted):
                result = compare(name, kind, a)
                print(json.dumps(result), flush=True)
                failures += result["status"] not in ("ok", "sensitive")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
