# SPDX-License-Identifier: MIT
"""Makes a failing case small: fewer nodes, outputs and attributes, shorter extents, while it fails in the same way."""

import dataclasses
import re

import peer
from case import reads

PATIENCE = {"interpreter": 200, "passes": 200, "compiled": 12}  # how many smaller cases are tried


def like(a, b):
    """Is a failure of the same kind, and of refusals with the same message but for names and numbers?"""
    if b is None or a.executor != b.executor or a.kind != b.kind:
        return False
    return a.kind == "different" or words(a.text) == words(b.text)


def words(text):
    return re.sub(r"'[^']*'|\d+", "", text.splitlines()[0] if text else "")[:60]


def needed(case):
    """The case without what its outputs do not need."""
    wanted, nodes = set(case.outputs), []
    for node in reversed(case.nodes):
        if wanted & set(node.output):
            nodes.insert(0, node)
            wanted.update(reads(node))
    case.nodes = nodes
    case.values = {n: v for n, v in case.values.items() if n in wanted}
    case.symbols = {k: s for k, s in case.symbols.items() if k[0] in case.values}
    return case


def alone(case, node, values):
    """One node with the values that the nodes before it have computed."""
    small = case.copy()
    small.nodes = [node]
    small.values = {
        n: values[n] if values[n].place != "node" else dataclasses.replace(values[n], place="input", error=None)
        for n in reads(node)
    }
    small.outputs = [y for y in node.output if y]
    return needed(small)


def with_output(case, name):
    small = case.copy()
    small.outputs = [name]
    return needed(small)


def without_node(case, node, values):
    """What the node computes becomes an input."""
    small = case.copy()
    small.nodes = [n for n in small.nodes if n.output[0] != node.output[0]]
    for name in node.output:
        if name:
            small.values[name] = dataclasses.replace(values[name], place="input", error=None)
    small.outputs = [y for y in small.outputs if y not in node.output]
    return needed(small) if small.outputs and small.nodes else None


def shorter(case, extent, to):
    small = case.copy()
    for v in small.values.values():
        v.array = v.array[tuple(slice(0, to) if n == extent else slice(None) for n in v.shape)]
    return small


def smaller_cases(case):
    """Cases with one thing less, the boldest first."""
    if len(case.outputs) > 1:
        for name in case.outputs:
            yield with_output(case, name)
    values = case.evaluate()
    if len(case.nodes) > 1:
        for node in case.nodes:
            yield alone(case, node, values)
        for node in case.nodes:
            yield without_node(case, node, values)
    if case.symbols:
        small = case.copy()
        small.symbols = {}
        yield small
    for i, node in enumerate(case.nodes):
        for k in range(len(node.attribute)):
            small = case.copy()
            del small.nodes[i].attribute[k]
            yield small
    extents = sorted({n for v in case.values.values() for n in v.shape if n > 1}, reverse=True)
    for n in extents:
        for to in sorted({1, 2, n // 2, n - 1} - {n}):
            if to > 0:
                yield shorter(case, n, to)


def smallest(case, problem, checker):
    """The smallest failing case found, and its Problem."""
    left = PATIENCE[problem.executor]
    progress = True
    while progress and left > 0:
        progress = False
        for small in smaller_cases(case):
            if small is None:
                continue
            left -= 1
            if left <= 0:
                break
            try:
                found = checker.problem(small, problem.executor)
            except (peer.Refused, KeyError):
                continue
            if like(problem, found):
                case, problem, progress = small, found, True
                break
    return case, problem
