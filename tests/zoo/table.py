# SPDX-License-Identifier: MIT
"""Turns the JSON lines of run.sh into a table for the documentation: table.py [FILE ...], else standard input. Of several
results of one name the last counts."""
import fileinput
import json

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


def cell(text, result):
    try:
        return text(result)
    except (KeyError, TypeError, ValueError):  # not measured
        return ""


def main():
    results = {}
    for line in fileinput.input():
        if line.startswith("{"):
            result = json.loads(line)
            results[result["name"]] = result
    print("| " + " | ".join(heading for heading, _ in COLUMNS) + " |")
    print("|---|" + "---:|" * (len(COLUMNS) - 1))
    for name in sorted(results):
        result = results[name]
        row = [cell(text, result) for _, text in COLUMNS]
        if result["status"] != "ok":
            row[0] += f" ({result['status']})"
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
