# SPDX-License-Identifier: MIT
"""Turns the JSON lines of run.sh into a table for the documentation: table.py [FILE ...], else standard input. Of several
results of one name the last counts."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from json_table import print_table

COLUMNS = [  # heading, text of a result
    ("model", lambda r: r["name"]),
    ("kernels", lambda r: f"{r['kernels']}"),
    ("compiled in", lambda r: f"{r['compile_s']:.0f} s"),
    ("with", lambda r: f"{r['compile_mb']} MB"),
    ("program", lambda r: f"{r['binary_kb'] / 1024:.1f} MB"),
    ("deviation", lambda r: f"{r['rel_err']:.0e}"),
    ("dnnkit", lambda r: f"{r['dnnkit_ms']:.1f} ms"),
    ("ONNX Runtime", lambda r: f"{r['ort_ms']:.1f} ms"),
    ("ratio", lambda r: f"{r['ratio']:.2f}"),
]

if __name__ == "__main__":
    print_table(COLUMNS)
