# SPDX-License-Identifier: MIT
"""Plans of the zoo's models, as `dnnkit explain --json` tells them, by all passes or without some."""
import functools
import json
import math
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
ZOO = ROOT / "tests/zoo"
SIZES = {"skipnet": {"H": 224, "W": 224}, "distilbert_dyn": {"L": 128}}  # of models with symbols that are planned here


def zoo_models():
    """Paths by name: those whose sizes are known, and one setting of each that there is with symbols only."""
    paths = {p.stem: p for p in sorted(ZOO.glob("*.onnx"))}
    return {name: path for name, path in paths.items() if not name.endswith("_dyn") or name in SIZES}


def chosen(names):
    models = zoo_models()
    for name in names:
        if name not in models:
            raise SystemExit(f"no model is called {name}: there are {', '.join(models)}")
    return {name: models[name] for name in names} if names else models


class tool:
    """The program dnnkit, whose plans are for one instruction set, by default this machine's, or for another target."""

    def __init__(self, program, isa=None, target=None):
        self.program = program
        self.isa = (["--isa", isa] if isa else []) + (["--target", target] if target else [])

    def told(self, *words):
        return json.loads(subprocess.run([self.program, *words], check=True, stdout=subprocess.PIPE).stdout)

    @functools.cached_property
    def optional_passes(self):
        """Names of all passes that can be left out, in their order."""
        small = ROOT / "tests/consumer/small.onnx"
        return self.told("compare-plans", "--json", small)["second"]["passes_left_out"]

    def explain(self, path, left_out=()):
        words = ["explain", "--json", *self.isa, path]
        for pass_name in left_out:
            words += ["--without", pass_name]
        for symbol, size in SIZES.get(path.stem, {}).items():
            words += ["--dim", f"{symbol}={size}"]
        return self.told(*words)

    def explain_by(self, path, passes):
        """The plan by these passes and no others that can be left out."""
        return self.explain(path, [p for p in self.optional_passes if p not in passes])


def table(heading, rows):
    """A Markdown table whose first column is text; rows may be a generator."""
    print("| " + " | ".join(heading) + " |\n|---|" + "---:|" * (len(heading) - 1), flush=True)
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


def megabytes(n):
    return f"{n / 1e6:.1f}" if n < 1e8 else f"{n / 1e6:.0f}"


def geometric_mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))
