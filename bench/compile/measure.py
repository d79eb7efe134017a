# SPDX-License-Identifier: MIT
"""Compiles the models of models.py one after another and prints what each costs as a Markdown table and as JSON lines."""

import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

import models

LIMIT_SECONDS = 600
LIMIT_BYTES = 12 << 30


def constexpr_options(is_clang):
    """The options that the CMake target dnnkit::dnnkit passes on to its users."""
    text = pathlib.Path("cmake/dnnkitOptions.cmake").read_text()
    family = "Clang" if is_clang else "GNU"
    return re.search(rf"set\(DNNKIT_CONSTEXPR_OPTIONS_{family}([^)]*)\)", text).group(1).split()


def compile_once(command):
    """Runs the compiler alone; returns its exit status, seconds, processor seconds, peak MB and what it printed."""
    start = time.perf_counter()
    process = subprocess.Popen(
        ["timeout", str(LIMIT_SECONDS), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES)),
    )
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    return os.waitstatus_to_exitcode(status), seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, printed


def main():
    compiler = os.environ.get("CXX", "g++")
    version = subprocess.run([compiler, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[0]
    options = ["-std=c++20", "-O2", "-march=native", "-Iinclude", *constexpr_options("clang" in version)]
    folder = pathlib.Path("build/compile")
    folder.mkdir(parents=True, exist_ok=True)
    wanted = set(sys.argv[1:])

    print(f"{version}, {' '.join(options[1:3])}\n")
    columns = ["model", "mode", "operators", "kernels", "distinct_kernels", "seconds", "peak_mb", "object_bytes"]
    print("| " + " | ".join(column.replace("_", " ") for column in columns) + " |\n" + "|---" * len(columns) + "|", flush=True)
    failed = 0
    with open(folder / f"{pathlib.Path(compiler).name}.jsonl", "w") as lines:
        for model in models.all_models():
            operators = "-"  # known from the mode in which the graph is all there is
            for mode in models.MODES:
                if wanted and not wanted & {model.name, mode, f"{model.name} {mode}"}:
                    continue
                source = folder / f"{model.name}_{mode}.cpp".replace(" ", "_")
                source.write_text(model.source(mode))
                made = source.with_suffix(".o")
                made.unlink(missing_ok=True)
                command = [compiler, *options, "-c", str(source), "-o", str(made)]
                status, seconds, processor, peak, printed = compile_once(command)
                row = {"model": model.name, "mode": mode, "compiler": version}
                if status == 0:
                    row |= {"seconds": round(seconds, 2), "processor_seconds": round(processor, 2)}
                    row |= {"peak_mb": round(peak), "object_bytes": made.stat().st_size}
                    row |= {"operators": operators} | models.counts(made)
                    operators = row["operators"]
                else:
                    failed += 1
                    row |= {"failed": "time limit" if status == 124 else "\n".join(printed.splitlines()[:8])}
                print(json.dumps(row), file=lines, flush=True)
                print("| " + " | ".join(str(row.get(column, "-")) for column in columns) + " |", flush=True)
                if status != 0:
                    print(row["failed"], file=sys.stderr, flush=True)
    return 1 if failed else 0


sys.exit(main())
