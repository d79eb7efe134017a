# SPDX-License-Identifier: MIT
"""Models that a script makes, compiled by `dnnkit build`, against ONNX Runtime on the same values, in turns, one thread."""

import argparse
import pathlib
import statistics
import subprocess
import sys

import numpy
import onnx

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests/support"))
from runtime_peer import (file_name, in_turns, kernels_milliseconds, milliseconds, milliseconds_of_program,
                          one_processor, ratio_of, runtime_of)

TURNS = 7


def arguments(description):
    """The command line of such a script: --tool, --work and parts of the names wanted."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for files and programs")
    parser.add_argument("--tool", type=pathlib.Path, required=True, help="the program dnnkit")
    parser.add_argument("wanted", nargs="*", metavar="PART", help="part of a name; all when none is named")
    return parser.parse_args()


def is_wanted(name, a):
    return not a.wanted or any(part in name for part in a.wanted)


def built(a, name, model):
    """The model's file and its program, which is built unless there is one that is not older than the tool."""
    a.work.mkdir(parents=True, exist_ok=True)
    path, program = a.work / f"{name}.onnx", a.work / name
    onnx.save(model, path)
    if not program.exists() or program.stat().st_mtime < a.tool.stat().st_mtime:
        subprocess.run([a.tool, "build", path, "-o", program], check=True, stdout=subprocess.DEVNULL)
    return path, program


def compared(a, name, model, values, runs):
    """One JSON object: times in ms, their ratio, that to the peer's kernels alone, and how far the first outputs are
    apart. `values`: inputs by name."""
    path, program = built(a, name, model)
    output, session = model.graph.output[0].name, runtime_of(path)
    command = [program, "--output", a.work]
    for key, value in values.items():
        numpy.save(a.work / file_name(key), value)
        command += ["--input", f"{key}={a.work / file_name(key)}"]
    with one_processor():
        turns = in_turns(
            {
                "dnnkit": lambda: milliseconds_of_program(command, runs),
                "onnxruntime": lambda: milliseconds(lambda: session.run([output], values), runs),
            },
            TURNS,
        )
        alone = kernels_milliseconds(path, values, TURNS * runs, a.work)
    expected = numpy.asarray(session.run([output], values)[0], numpy.float64)
    result = numpy.load(a.work / file_name(output)).astype(numpy.float64)
    return {
        "name": name,
        "dnnkit_ms": round(statistics.median(turns["dnnkit"]), 4),
        "onnxruntime_ms": round(statistics.median(turns["onnxruntime"]), 4),
        "ratio": round(ratio_of(turns["dnnkit"], turns["onnxruntime"]), 3),
        "onnxruntime_kernels_ms": round(alone, 4),
        "ratio_to_kernels": round(statistics.median(turns["dnnkit"]) / alone, 3) if alone else None,
        "deviation": float(numpy.abs(result - expected).max()) if result.size else 0.0,
    }
