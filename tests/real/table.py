# SPDX-License-Identifier: MIT
"""Turns the JSON lines of run.sh into a table for the documentation: table.py [FILE ...], else standard input. Of several
results of one name the last counts."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from json_table import print_table

COLUMNS = [  # heading, text of a result
    ("package/model", lambda r: r["name"]),
    ("accepted", lambda r: {"open": "any size", "given": "sizes given", False: "no"}[r["accepted"]]),
    ("kernels", lambda r: f"{r['kernels']}"),
    ("without vectors", lambda r: f"{100 * sum(k['share'] for k in r['element_by_element']):.0f} %"),
    ("compiled in", lambda r: f"{r['compile_s']:.0f} s"),
    ("interpreted", lambda r: f"{r['interpreted']:.0e}"),
    ("compiled", lambda r: f"{r['deviation']:.0e}"),
    ("ONNX Runtime's own", lambda r: f"{r['sensitivity']:.0e}"),
    ("dnnkit", lambda r: f"{r['dnnkit_ms']:.2f} ms"),
    ("ONNX Runtime", lambda r: f"{r['ort_ms']:.2f} ms"),
    ("ratio", lambda r: f"{r['ratio']:.2f}"),
]

if __name__ == "__main__":
    print_table(COLUMNS)
