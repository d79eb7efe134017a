# SPDX-License-Identifier: MIT
"""ONNX Runtime as the peer of compiled programs: the outputs of both compared, their times taken in turns."""
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import time
import urllib.parse

import numpy as np
import onnxruntime

ROUNDS = 5


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


# Runs a command and appends a line: its exit status and the memory of its largest process in KB. What Linux says of a
# process's memory includes what its parent had when it was started: so the parent must be a small one, not this script.
SMALL_PARENT = """
import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print(f"\\n{status} {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}")
"""


def call(words, limit):
    """Runs a command; returns its exit status, what it printed, seconds, and the largest process's memory in MB."""
    begin = time.monotonic()
    child = subprocess.Popen([sys.executable, "-S", "-c", SMALL_PARENT, *map(str, words)], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    try:
        text, _ = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        return -signal.SIGKILL, child.communicate()[0], time.monotonic() - begin, 0
    seconds = time.monotonic() - begin
    text, _, last = text.rstrip("\n").rpartition("\n")
    status, memory = map(int, last.split())
    return status, text, seconds, memory / 1024


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


def runtime_of(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def kernels_milliseconds(path, values, runs, folder):
    """The time of all kernels of a run, the median of `runs`, as the profiler says it: without the way from Python."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_profiling, options.profile_file_prefix = True, str(folder / "profile")
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    for _ in range(runs):
        session.run(None, values)
    profile = session.end_profiling()
    with open(profile) as file:
        events = json.load(file)
    os.remove(profile)
    each = [e["dur"] for e in events if e.get("cat") == "Node" and e["name"].endswith("_kernel_time")]
    kernels = len(each) // runs
    return statistics.median(sum(each[i * kernels : (i + 1) * kernels]) for i in range(runs)) / 1e3


def file_name(name):
    return urllib.parse.quote(name, safe="") + ".npy"


def compare(expected, folder, session, any_float=False):
    """The largest absolute difference, and that relative to the largest magnitude, over all outputs; `any_float`: floats
    may be of any size."""
    absolute = relative = 0.0
    for y, want in zip(session.get_outputs(), expected):
        found = np.load(folder / file_name(y.name))
        same_type = found.dtype == want.dtype or any_float and found.dtype.kind == want.dtype.kind == "f"
        if found.shape != want.shape or not same_type:
            raise ValueError(f"{y.name}: {found.dtype}{list(found.shape)}, expected {want.dtype}{list(want.shape)}")
        if want.size == 0:
            continue
        difference = np.abs(found.astype(np.float64) - want.astype(np.float64))
        worst = float(difference.max()) if np.isfinite(difference).all() else float("inf")
        absolute = max(absolute, worst)
        relative = max(relative, worst / max(float(np.abs(want).max()), 1e-30))
    return absolute, relative


@contextlib.contextmanager
def on_processors(choose):
    """What runs within, this process and those it starts, is on the processors that choose(those it may use) names. A
    child inherits them: to set them between fork and exec, Python's page tables would be copied first."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, choose(before))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def one_processor():
    """What is timed runs on the last processor."""
    return on_processors(lambda given: {max(given)})


def milliseconds(run, times):
    """The median of so many runs."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        run()
        taken.append(1000 * (time.perf_counter() - begin))
    return statistics.median(taken)


def milliseconds_of_program(command, times):
    """The median of so many runs of a program that `dnnkit build` made, without what comes before the first."""
    status, text, _, _ = call([*command, "--time", times], 600)
    if status:
        raise RuntimeError(last_line(text))
    return float(last_line(text).split()[0])


def in_turns(sides, turns):
    """What each side returns, turn by turn, in an order that alternates; `sides` are functions by name."""
    taken = {name: [] for name in sides}
    for turn in range(turns):
        for name in sorted(sides, reverse=turn % 2 == 1):
            taken[name].append(sides[name]())
    return taken


def ratio_of(ours, theirs):
    """The median of the turns' ratios: a change of the machine's speed during the run touches both sides."""
    return statistics.median(x / y for x, y in zip(ours, theirs))


@one_processor()
def measure(command, session, values):
    """Median milliseconds of both, one thread, in turns; the number of runs follows from the time of one."""
    once = milliseconds(lambda: session.run(None, values), 1)
    runs = max(1, min(30, int(500 / max(once, 1e-3))))
    sides = {
        "dnnkit": lambda: milliseconds_of_program(command, runs),
        "onnxruntime": lambda: milliseconds(lambda: session.run(None, values), runs),
    }
    turns = in_turns(sides, ROUNDS if once < 1000 else 3)
    return statistics.median(turns["dnnkit"]), statistics.median(turns["onnxruntime"])


def compile_program(tool, path, program, reuse, options=()):
    """Whether there is a program now, the compiler's messages, seconds and MB; of a program that is reused, as noted.
    `options` are more words for the tool."""
    notes = program.with_suffix(".json")
    if reuse and program.exists() and notes.exists() and notes.stat().st_mtime > path.stat().st_mtime:
        return True, "", json.loads(notes.read_text())
    program.unlink(missing_ok=True)
    notes.unlink(missing_ok=True)
    status, text, seconds, memory = call([tool, "build", path, "-o", program, *options], 1200)
    compiled = {"compile_s": round(seconds, 1), "compile_mb": round(memory)}
    if status == 0:
        notes.write_text(json.dumps(compiled))
    return status == 0, text, compiled
