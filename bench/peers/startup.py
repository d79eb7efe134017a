# SPDX-License-Identifier: MIT
"""Times how long a model takes from the start of a process to its first result, dnnkit against ONNX Runtime, in turns.

dnnkit: a process of the program that `dnnkit build` made, from its start to its end: reading the input, mapping the .onnx
file, packing the weights, one run, writing the output. ONNX Runtime: a Python process of its own, but only creating the
session and the first run in it, without starting Python and importing the package. One thread each; files are in the
system's cache. Memory is the peak resident memory of the process; for ONNX Runtime also what is left when that of Python
with the package imported is taken away.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

TURNS = 11
PEER = """
import resource, sys, time
import numpy, onnxruntime
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before, begin = peak(), time.perf_counter()
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
created = time.perf_counter()
values = {i.name: numpy.load(sys.argv[2] + "/" + i.name.replace("/", "_") + ".npy") for i in session.get_inputs()}
loaded = time.perf_counter()
session.run(None, values)
end = time.perf_counter()
print(created - begin, end - loaded, peak() / 1024, before / 1024, *(i.name for i in session.get_inputs()))
"""


def peer(folder, model):
    words = [sys.executable, "-c", PEER, str(model), str(folder)]
    created, first_run, peak, before, *names = subprocess.run(words, check=True, capture_output=True).stdout.split()
    return 1e3 * float(created), 1e3 * float(first_run), float(peak), float(before), [n.decode() for n in names]


def program(folder, names):
    """Milliseconds from start to end of the program, and its peak resident memory in MB."""
    words = [str(folder / "program")]
    for name in names:
        words += ["--input", f"{name}={folder / (name.replace('/', '_') + '.npy')}"]
    with tempfile.TemporaryDirectory() as output:
        begin = time.perf_counter()
        child = subprocess.Popen([*words, "--output", output], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode or not any(pathlib.Path(output).iterdir()):
            raise RuntimeError(f"{words[0]} ended with {child.returncode}")
    return 1e3 * seconds, usage.ru_maxrss / 1024


def measure(folder):
    model = folder / f"{folder.name}.onnx"
    names = peer(folder, model)[4]  # these first two warm the system's cache
    program(folder, names)
    ours, theirs = [], []
    for turn in range(TURNS):
        for side in ("ours", "theirs") if turn % 2 else ("theirs", "ours"):
            if side == "ours":
                ours.append(program(folder, names))
            else:
                theirs.append(peer(folder, model)[:4])
    median = lambda rows, column: round(statistics.median(r[column] for r in rows), 1)
    total = statistics.median(r[0] + r[1] for r in theirs)
    return {
        "name": folder.name,
        "dnnkit_ms": median(ours, 0), "dnnkit_mb": median(ours, 1),
        "ort_session_ms": median(theirs, 0), "ort_first_run_ms": median(theirs, 1), "ort_ms": round(total, 1),
        "ort_mb": median(theirs, 2), "ort_mb_without_python": round(statistics.median(r[2] - r[3] for r in theirs), 1),
        "ratio": round(statistics.median(r[0] for r in ours) / total, 3),
        "file_mb": round(sum((folder / (folder.name + end)).stat().st_size for end in (".onnx", ".bin")) / 2**20, 1),
    }


for name in sys.argv[2:]:
    print(json.dumps(measure(pathlib.Path(sys.argv[1]) / name)), flush=True)
