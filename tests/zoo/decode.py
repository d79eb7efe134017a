# SPDX-License-Identifier: MIT
"""The zoo's GPT-2 with a cache of keys and values, token after token: equal to the model without one, and the time of a
token beside ONNX Runtime's with past_key_values. One JSON object a graph: `rows`, whose cache grows in place, one row a
token, and `heads`, the shapes that exporters write, whose cache is copied by each run. Both programs in turns, on one
core; a token's time is the least of all rounds. read_ms is what numpy takes to add up as many bytes as there are weights.
"""
import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import numpy as np
import onnxruntime

import with_past
from materialize import generator, materialize

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from runtime_peer import one_processor, progress, runtime_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST = 1024  # positions that the weights have
# Bytes of what each token is multiplied by: the layers' matrices, and that of the logits.
WEIGHTS = 4 * 768 * (12 * (3 + 1 + 4 + 4) * 768 + with_past.VOCABULARY)


class Peer:
    """ONNX Runtime, whose outputs become the next run's inputs without a copy."""

    def __init__(self, path):
        self.session = runtime_of(path)
        self.states = [x.name for x in self.session.get_inputs() if x.name != "ids"]
        self.outputs = [x.name for x in self.session.get_outputs()]

    def decode(self, ids):
        """Logits and milliseconds of each token."""
        empty = np.zeros((1, with_past.HEADS, 0, with_past.WIDTH), np.float32)
        values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(empty) for name in self.states}
        logits, times = [], []
        for token in ids:
            values["ids"] = onnxruntime.OrtValue.ortvalue_from_numpy(np.array([[token]]))
            begin = time.perf_counter()
            found = dict(zip(self.outputs, self.session.run_with_ort_values(self.outputs, values)))
            times.append(1e3 * (time.perf_counter() - begin))
            logits.append(found["y"].numpy()[0, 0])
            values = {name: found[name.replace("past", "present")] for name in self.states}
        return np.stack(logits), times


def bandwidth(rounds=3):
    """Bytes a second that numpy reads from memory, adding up 512 MB."""
    x, best = np.ones(2**27, np.float32), 0
    for _ in range(rounds):
        begin = time.perf_counter()
        x.sum()
        best = max(best, x.nbytes / (time.perf_counter() - begin))
    return best


def build(name, folder, rows_first, tool, flags):
    """A program of decode.cpp around the graph."""
    path, sources, program = folder / f"gpt2_{name}.onnx", folder / f"decode_{name}", folder / f"decode_{name}.program"
    with_past.write(folder / "gpt2.onnx", path, rows_first)
    progress(f"{name}: compiling")
    subprocess.run([tool, "generate", path, "-o", sources, "--name", "decoder", "--dim", f"P=0..{LONGEST}"], check=True,
                   stdout=subprocess.DEVNULL)
    compiler = ["c++", "-std=c++20", *flags.split(), "-fconstexpr-ops-limit=2147483647", "-fconstexpr-loop-limit=10000000",
                "-fconstexpr-depth=4096", "-I", ROOT / "include", "-I", sources]
    subprocess.run([*compiler, ROOT / "tests/zoo/decode.cpp", "-o", program], check=True)
    return path, program


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for weights and programs")
    parser.add_argument("--tool", type=pathlib.Path, required=True, help="the program dnnkit")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--flags", default="-O3 -march=native")
    a = parser.parse_args()
    folder = a.work / "gpt2"
    materialize(pathlib.Path(__file__).parent / "gpt2.onnx", folder)
    programs = {name: build(name, folder, name == "rows", a.tool, a.flags) for name in ("rows", "heads")}
    ids = generator("decode/ids").integers(0, with_past.VOCABULARY, a.tokens)
    ids.astype(np.int64).tofile(folder / "ids")

    progress("the model without a cache")
    whole = np.zeros((1, 128), np.int64)  # what comes behind a token does not change its logits
    whole[0, : min(len(ids), 128)] = ids[:128]
    expected = runtime_of(folder / "gpt2.onnx").run(None, {"ids": whole})[0][0, : len(ids)]
    peer = Peer(programs["heads"][0])
    found, _ = peer.decode(ids[:4])
    peer_error = np.abs(found - expected[:4]).max() / np.abs(expected).max()
    theirs, ours, errors = [], {name: [] for name in programs}, {}
    with one_processor():
        reading = 1e3 * WEIGHTS / bandwidth()
        for turn in range(a.rounds):
            progress(f"turn {turn + 1}")
            theirs += [peer.decode(ids)[1] for _ in range(2)]
            for name, (_, program) in programs.items():
                done = subprocess.run([program, folder / "ids", folder / "logits", "2"], check=True, capture_output=True, text=True)
                ours[name].append([float(t) for t in done.stdout.split()])
                logits = np.fromfile(folder / "logits", np.float32).reshape(len(ids), -1)[: len(expected)]
                errors[name] = float(np.abs(logits - expected).max() / np.abs(expected).max())
    progress("")
    theirs = np.min(theirs, 0)
    for name in programs:
        times = np.min(ours[name], 0)
        print(json.dumps({
            "name": f"gpt2_{name}", "tokens": len(ids), "rel_err": errors[name], "ort_rel_err": float(peer_error),
            "token_ms": round(statistics.median(times), 2), "worst_ms": round(max(times), 2),
            "last_ms": round(times[-1], 2), "ort_token_ms": round(statistics.median(theirs), 2),
            "ort_last_ms": round(theirs[-1], 2), "ratio": round(statistics.median(times) / statistics.median(theirs), 3),
            "read_ms": round(reading, 2)}), flush=True)
    return 1 if max(errors.values()) > 1e-4 else 0


if __name__ == "__main__":
    sys.exit(main())
