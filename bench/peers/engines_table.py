# SPDX-License-Identifier: MIT
"""Results of engines.py as a Markdown table, and as a picture: engines_table.py RESULTS.jsonl [PICTURE.svg]

Of several results of one model the last counts.
"""
import json
import math
import pathlib
import statistics
import sys

from engine import ENGINES

OURS = "dnnkit"
TITLES = {OURS: OURS, "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO", "ncnn": "ncnn", "mnn": "MNN"}


def read(path):
    lines = map(json.loads, pathlib.Path(path).read_text().splitlines())
    return {r["name"]: r for r in lines if "failed" not in r}


def ms_of(result, engine):
    return result["engines"].get(engine, {}).get("ms")


def best_peer(result):
    """Its name, and our time in parts of its."""
    ratios = result.get("ratios", {})
    return max(ratios.items(), key=lambda item: item[1], default=(None, None))


def geometric_mean(numbers):
    return math.exp(statistics.fmean(map(math.log, numbers))) if numbers else float("nan")


def mean_of(results, ratio):
    found = [x for x in map(ratio, results) if x is not None]
    return f"{geometric_mean(found):.2f}" if found else ""


def print_table(results):
    engines = [OURS, *(e for e in ENGINES if any(e in r["engines"] for r in results))]
    text = lambda x, digits: "" if x is None else f"{x:.{digits}f}"
    print("| model | floor | " + " | ".join(TITLES[e] for e in engines) +
          " | to the best | to ONNX Runtime | of the floor | first result, ms: dnnkit, least of others | memory, MB |")
    print("|---|" + "---:|" * (len(engines) + 6))
    for r in results:
        ours, others = r["engines"][OURS], [r["engines"][e] for e in engines[1:] if ms_of(r, e) is not None]
        ms = ours.get("ms")
        first = lambda said: said["load_ms"] + said["first_ms"]
        cells = [f"{r['floor_ms']:.1f}", *(text(ms_of(r, e), 1) for e in engines), text(best_peer(r)[1], 2),
                 text(r.get("ratios", {}).get("onnxruntime"), 2), "" if ms is None else f"{100 * r['floor_ms'] / ms:.0f} %",
                 f"{first(ours):.0f}, {min(map(first, others), default=math.nan):.0f}",
                 f"{ours['peak_mb']:.0f}, {min((o['peak_mb'] for o in others), default=math.nan):.0f}"]
        print(f"| {r['name']} | " + " | ".join(cells) + " |")
    blank = " |" * len(engines)
    print(f"| geometric mean | |{blank} {mean_of(results, lambda r: best_peer(r)[1])} | "
          f"{mean_of(results, lambda r: r.get('ratios', {}).get('onnxruntime'))} | | | |")


def draw(results, path):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "dnnkit"  # the same file for the same numbers
    from matplotlib import pyplot
    colours = {OURS: "#c0392b", "onnxruntime": "#7f8c8d", "openvino": "#2980b9", "ncnn": "#27ae60", "mnn": "#8e44ad"}
    figure, axes = pyplot.subplots(figsize=(9, 0.32 * len(results) + 1.2))
    for engine in reversed([OURS, *ENGINES]):
        points = [(i, ms_of(r, engine) / ms_of(r, OURS)) for i, r in enumerate(results)
                  if ms_of(r, engine) is not None and ms_of(r, OURS) is not None]
        axes.plot([x for _, x in points], [i for i, _ in points], "D" if engine == OURS else "o", color=colours[engine],
                  label=TITLES[engine], markersize=6, alpha=0.9)
    axes.plot([r["floor_ms"] / ms_of(r, OURS) for r in results], range(len(results)), "|", color="black", markersize=10,
              label="multiply-adds at the peak")
    axes.set_yticks(range(len(results)), [r["name"] for r in results])
    axes.invert_yaxis()
    axes.set_xlim(0, 3)
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel(f"time in parts of dnnkit's, {results[0]['threads']} thread{'s' if results[0]['threads'] > 1 else ''}"
                    " (further right: slower; beyond 3 not shown)")
    axes.legend(loc="lower right", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    found = list(read(sys.argv[1]).values())
    if not found:
        sys.exit(f"{sys.argv[1]}: no results")
    print_table(found)
    if len(sys.argv) > 2:
        draw(found, sys.argv[2])
