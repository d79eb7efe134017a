# SPDX-License-Identifier: MIT
"""dnnkit: the tool's interpreter, with passes and without, and the programs it builds."""

import pathlib
import re
import shutil
import subprocess

import numpy as np

SECONDS = 60
COMPILER_SECONDS = 900


class Failed(Exception):
    """The tool or a program stopped with a message, or did not stop."""


def call(words, seconds):
    try:
        done = subprocess.run(
            [str(w) for w in words], capture_output=True, text=True, errors="replace", timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"did not end within {seconds} s") from None
    if done.returncode < 0:
        raise Failed(f"died of signal {-done.returncode}: {done.stderr[-300:]}")
    if done.returncode:
        text = done.stderr.strip()
        found = re.search(r"error: .*", text)
        raise Failed(found[0][:600] if found and seconds == COMPILER_SECONDS else text[:600])
    return done.stdout


class Subject:
    def __init__(self, tool, folder, flags=None):
        self.tool, self.folder, self.flags = tool, pathlib.Path(folder), flags
        self.folder.mkdir(parents=True, exist_ok=True)

    def interpreted(self, model, inputs, names, passes):
        path = self.folder / "model.onnx"
        path.write_bytes(model.SerializeToString())
        return self._run([self.tool, "run", path, "--passes", passes], inputs, names)

    def build(self, model, inputs):
        """Compiles a model; `inputs` are given to it where they decide shapes."""
        path = self.folder / "model.onnx"
        path.write_bytes(model.SerializeToString())
        (self.folder / "program").unlink(missing_ok=True)
        flags = ["--flags", self.flags] if self.flags else []
        call([self.tool, "build", path, "-o", self.folder / "program", *flags, *self._given(inputs)], COMPILER_SECONDS)

    def compiled(self, inputs, names):
        """Runs the program that was built, without the inputs that were used up when it was."""
        program = self.folder / "program"
        left = set(re.findall(r"^  input +(\S+):", call([program, "--help"], SECONDS), re.MULTILINE))
        return self._run([program], {name: x for name, x in inputs.items() if name in left}, names)

    def _given(self, inputs):
        words = []
        for name, array in inputs.items():
            np.save(self.folder / f"{name}.npy", array)
            words += ["--input", f"{name}={self.folder / name}.npy"]
        return words

    def _run(self, command, inputs, names):
        outputs = self.folder / "outputs"
        shutil.rmtree(outputs, ignore_errors=True)
        call([*command, *self._given(inputs), "--output", outputs], SECONDS)
        return [np.load(outputs / f"{name}.npy") for name in names]
