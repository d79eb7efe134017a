#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long programs of networks take on an NVIDIA GPU from the start of a process to its end with a first result, and how
much of the device's memory they have: one JSON object a line, then a table.

Programs lie as opencl_networks.py says; beside each, memory.txt has the first line that `dnnkit explain --texts opencl`
prints of the model. Cold: dnnkit's cache and the driver's own are empty folders; warm: both are filled, and so is the
system's cache of files. Memory is what nvidia-smi says is used while a program runs again and again, less what it says
before; less that of a network of some bytes in FOLDER/small, it is to be compared with the line in memory.txt.

    python3 bench/peers/opencl_start.py [--turns N] [--device NAME] FOLDER [MODEL ...]
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/zoo"), str(ROOT / "tests/support"), str(ROOT / "bench/passes")]
from explained import table
from materialize import feed, materialize
from opencl_networks import MODELS, words_of
from runtime_peer import progress, runtime_of

MEGABYTE = 1e6


def seconds_of(command, caches):
    environment = os.environ | {"DNNKIT_CACHE": f"{caches}/dnnkit", "CUDA_CACHE_PATH": f"{caches}/driver"}
    begin = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def start_of(command, turns):
    """Medians of seconds with empty caches, and with those that the runs before have filled."""
    cold, warm = [], []
    for _ in range(turns):
        with tempfile.TemporaryDirectory() as caches:
            cold.append(seconds_of(command, caches))
            warm += [seconds_of(command, caches) for _ in range(2)]
    return statistics.median(cold), statistics.median(warm)


def used_memory():
    text = subprocess.check_output(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], text=True)
    return int(text.split()[0]) * 2**20


def memory_of(command):
    """The most that is used on the device while the program runs, in bytes, above what is used before."""
    before = most = used_memory()
    child = subprocess.Popen([*command, "--time", "3000"], stdout=subprocess.DEVNULL)
    while child.poll() is None:
        most = max(most, used_memory())
    if child.returncode:
        raise RuntimeError(f"{command[0]} ended with {child.returncode}")
    return most - before


def planned_memory(folder):
    return sum(map(int, re.findall(r"\d+", (folder / "memory.txt").read_text())))


def command_of(name, graph, folder, device):
    path = materialize(graph, folder / name)
    words = words_of(path, feed(name, runtime_of(path), {}), folder / name, device)
    return [folder / name / "program_opencl", *words, "--output", folder / name / "outputs"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--device", default="NVIDIA")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="MODEL")
    a = parser.parse_args()
    context = memory_of(command_of("small", ROOT / "tests/consumer/small.onnx", a.folder, a.device))
    print(json.dumps({"context_mb": context / MEGABYTE}), flush=True)
    rows = []
    for name in a.names or MODELS:
        progress(name)
        command = command_of(name, ROOT / f"tests/zoo/{name}.onnx", a.folder, a.device)
        cold, warm = start_of(command, a.turns)
        used, planned = memory_of(command) - context, planned_memory(a.folder / name)
        progress("")
        print(json.dumps({"name": name, "cold_s": round(cold, 3), "warm_s": round(warm, 3), "used_mb": used / MEGABYTE,
                          "planned_mb": planned / MEGABYTE}), flush=True)
        rows.append([name, f"{cold:.2f}", f"{warm:.2f}", f"{used / MEGABYTE:.0f}", f"{planned / MEGABYTE:.0f}"])
    table(["network", "empty caches, s", "filled caches, s", "memory on the device, MB", "planned, MB"], rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
