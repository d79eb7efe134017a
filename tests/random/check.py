# SPDX-License-Identifier: MIT
"""One random graph from growing it to a verdict: in a process of its own, as ONNX Runtime may stop its process."""

import dataclasses
import json
import os
import signal
import sys

import numpy as np
import onnx
from onnx import helper

import generator
import peer
import shrink
import tolerance
from subject import Failed, Subject

SECONDS = 1800
INTERPRETED_ONLY = "depend on the elements of its inputs"  # what no compiled network has: docs/onnx.md, Limits


@dataclasses.dataclass
class Problem:
    """What one executor did wrong with a case. `kind`: refused or different."""

    executor: str
    kind: str
    text: str


def expectation(case):
    """What ONNX Runtime makes of the whole graph, and how far each element may be from it."""
    values = case.evaluate()
    arrays = peer.Session(case.model()).run(case.inputs())
    return [(array, values[name].error) for name, array in zip(case.outputs, arrays)]


def compare(case, expected, executor, run):
    """Runs a case and returns its Problem, None if there is none."""
    try:
        found = run()
    except Failed as failure:
        if executor == "compiled" and INTERPRETED_ONLY in str(failure):
            return None
        return Problem(executor, "refused", str(failure))
    for name, (array, error), y in zip(case.outputs, expected, found):
        if problem := tolerance.difference(array, error, y):
            return Problem(executor, "different", f"{name} {problem}")
    return None


class Checker:
    def __init__(self, a):
        self.subject = Subject(a.tool, a.work / "run", a.flags)

    def problem(self, case, executor):
        """What is wrong with a case in one executor: interpreter, passes or compiled."""
        expected = expectation(case)
        if executor == "compiled":

            def run():
                self.subject.build(case.model(), case.inputs())
                return self.subject.compiled(case.inputs(), case.outputs)

        else:

            def run():
                return self.subject.interpreted(
                    case.model(), case.inputs(), case.outputs, "on" if executor == "passes" else "off"
                )

        return compare(case, expected, executor, run)

    def problems(self, case, compiled):
        """The first Problem of a case in all executors."""
        for executor in ("interpreter", "passes", *(["compiled"] if compiled else [])):
            if found := self.problem(case, executor):
                return found
        return None

    def is_of_the_peer(self, case, problem):
        """Does ONNX Runtime with optimisations make what dnnkit makes, and not what it makes without?"""
        if problem.kind != "different":
            return False
        values = case.evaluate()
        try:
            arrays = peer.Session(case.model(), optimised=True).run(case.inputs())
        except peer.Refused:
            return False
        expected = [(array, values[name].error) for name, array in zip(case.outputs, arrays)]
        if problem.executor == "compiled":

            def run():
                return self.subject.compiled(case.inputs(), case.outputs)

        else:

            def run():
                return self.subject.interpreted(
                    case.model(), case.inputs(), case.outputs, "on" if problem.executor == "passes" else "off"
                )

        return compare(case, expected, problem.executor, run) is None


def describe(case):
    """The graph as text, one node a line: what explained.json speaks of."""
    values = dict(case.values)
    try:
        values = case.evaluate()
    except peer.Refused:
        pass

    def operand(name):
        if not name:
            return "-"
        v = values.get(name)
        if v is None:
            return name
        dims = [case.symbols.get((name, d), n) for d, n in enumerate(v.shape)]
        text = f"{name}:{v.dtype}[{','.join(map(str, dims))}]"
        small = v.fixed and v.array.size <= 8
        return text + (f"={v.array.tolist()}" if small else "")

    lines = []
    for node in case.nodes:
        attributes = "".join(
            f" {a.name}={'graph' if a.type == onnx.AttributeProto.GRAPH else helper.get_attribute_value(a)}"
            for a in node.attribute
        )
        read, made = (", ".join(map(operand, names)) for names in (node.input, node.output))
        lines.append(f"{node.op_type}({read}){attributes} -> {made}")
    return lines


def check(a, index, only, compiled):
    seed = a.seed * 1_000_003 + index
    case = generator.grow(seed, only)
    if case is None:
        return {"verdict": "skipped", "problem": "no graph came of it"}
    return {"operators": [node.op_type for node in case.nodes]} | verdict_on(Checker(a), a, index, case, seed, compiled)


def verdict_on(checker, a, index, case, seed, compiled):
    failing, found = case, checker.problems(case, compiled)
    if not found and (other := generator.resized(case, seed)):
        failing = other
        for executor in ("interpreter", "passes"):
            found = found or checker.problem(other, executor)
        if compiled and not found:

            def run():
                checker.subject.build(case.model(), case.inputs())
                return checker.subject.compiled(other.inputs(), other.outputs)

            found = compare(other, expectation(other), "compiled", run)
    if not found:
        return {"verdict": "passed"}
    result = {
        "verdict": "failed",
        "executor": found.executor,
        "kind": found.kind,
        "problem": found.text,
        "opset": case.opset,
    }
    if checker.is_of_the_peer(failing, found):
        return result | {"verdict": "skipped", "problem": "ONNX Runtime differs from itself: " + found.text}
    if not a.no_shrink:
        failing, found = shrink.smallest(failing, found, checker)
        if checker.is_of_the_peer(failing, found):
            return result | {"verdict": "skipped", "problem": "ONNX Runtime differs from itself: " + found.text}
    folder = a.work / "failures" / f"{a.seed}_{index}"
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(failing.model(), folder / "model.onnx")
    for name, array in failing.inputs().items():
        np.save(folder / f"{name}.npy", array)
    for name, (array, _) in zip(failing.outputs, expectation(failing)):
        np.save(folder / f"expected_{name}.npy", array)
    return result | {"shrunk": found.text, "nodes": describe(failing), "opset": failing.opset, "folder": str(folder)}


def in_process(a, index, only, compiled):
    """check() in a child, so that what stops the child stops no more than one graph."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(SECONDS)
        try:
            result = check(a, index, only, compiled)
        except peer.Refused as refused:
            result = {"verdict": "skipped", "problem": "ONNX Runtime refuses the whole: " + str(refused)[:300]}
        except BaseException as failure:  # a fault of this suite
            import traceback

            traceback.print_exc()
            result = {"verdict": "failed", "problem": f"{type(failure).__name__}: {failure}"}
        with os.fdopen(writing, "w") as out:
            json.dump(result, out)
        sys.stdout.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    result = (
        json.loads(text) if text else {"verdict": "skipped", "problem": f"ONNX Runtime died of signal {status & 127}"}
    )
    return {"seed": a.seed, "index": index} | result
