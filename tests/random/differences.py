# SPDX-License-Identifier: MIT
"""Differences that are understood: explained.json says of which nodes, and who is right."""

import json
import pathlib
import re

FILE = pathlib.Path(__file__).parent / "explained.json"


class Explained:
    """Entries: regular expressions `node`, which the last node of the smallest failing graph matches, and `problem`, the
    message; `reason`; `right`: dnnkit, ONNX Runtime, both or neither; `seen`: where a graph is that needs a rare one:
    the seed, the index, and the operator that the run was of."""

    def __init__(self, path=FILE):
        self.entries = json.loads(path.read_text())
        self.used = [0] * len(self.entries)

    def verdict(self, result):
        """passed, failed or skipped: what is explained is skipped."""
        if result["verdict"] != "failed":
            return result["verdict"]
        nodes = result.get("nodes", [])
        for i, entry in enumerate(self.entries):
            if (
                nodes
                and re.search(entry["node"], nodes[-1])
                and re.search(entry.get("problem", ""), result["shrunk"])
            ):
                self.used[i] += 1
                result["explained"] = entry["reason"]
                return "skipped"
        return "failed"

    def unused(self):
        return [entry for entry, count in zip(self.entries, self.used) if not count]
