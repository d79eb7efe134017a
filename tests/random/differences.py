# SPDX-License-Identifier: MIT
"""Differences that are understood: explained.json says of which nodes, and who is right."""
import json
import pathlib
import re

FILE = pathlib.Path(__file__).parent / "explained.json"


class Explained:
    """Entries: `node` and `problem`, regular expressions that the smallest failing graph's one node and its message
    match; `reason`; `right`: dnnkit, ONNX Runtime or both."""

    def __init__(self, path=FILE):
        self.entries = json.loads(path.read_text())
        self.used = [0] * len(self.entries)

    def verdict(self, result):
        """passed, failed or skipped: what is explained is skipped."""
        if result["verdict"] != "failed":
            return result["verdict"]
        nodes = result.get("nodes", [])
        for i, entry in enumerate(self.entries):
            if len(nodes) == 1 and re.search(entry["node"], nodes[0]) and re.search(entry.get("problem", ""), result["shrunk"]):
                self.used[i] += 1
                result["explained"] = entry["reason"]
                return "skipped"
        return "failed"

    def unused(self):
        return [entry for entry, count in zip(self.entries, self.used) if not count]
