# SPDX-License-Identifier: MIT
"""Models of the zoo as ONNX Runtime's tools quantise them to 8 bits, compiled by `dnnkit build`, against ONNX Runtime.

KIND is dynamic (quantize_dynamic), qdq or qoperator (quantize_static, calibrated on random inputs, a scale for each
output channel of weights). Files, programs and inputs go to the work folder, and files that are there are kept.

step is the scale in which the output was quantised last; of an output that was not, the 255th part of its range.
steps_off is the largest difference between both in steps, and peer_steps_off that between ONNX Runtime and itself
without its optimiser, which computes quantised products in floats: weights are random, and such networks carry the
roundings of one layer through all others. wrong: more than one step, and more than ONNX Runtime is from itself. Times
are of one thread, taken in turns, OpenVINO's too if Python has it.
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
CALIBRATIONS, TURNS = 2, 7


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


def largest_difference(path, outputs, expected, found):
    """In steps, over all outputs."""
    return max(float(numpy.abs(x - y).max()) / step_of(path, o.name, y) for o, x, y in zip(outputs, found, expected))


def unoptimised(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


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
    off = largest_difference(path, outputs, expected, [numpy.load(folder / "outputs" / file_name(y.name)) for y in outputs])
    peer = largest_difference(path, outputs, expected, unoptimised(path).run(None, values))
    result = {"status": "ok" if off <= max(1, peer) * 1.001 else "wrong", "steps_off": round(off, 3),
              "peer_steps_off": round(peer, 3)}
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
                failures += result["status"] != "ok"
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
