# SPDX-License-Identifier: MIT
"""JSON lines as a table of a page. Of several results of one name the last counts."""
import fileinput
import json


def cell(text, result):
    try:
        return text(result)
    except (KeyError, TypeError, ValueError):  # not measured
        return ""


def print_table(columns):
    """columns: (heading, text of a result) each; the first is the name, with the status where that is not ok. Results
    come from the files that the command line names, else from standard input."""
    results = {}
    for line in fileinput.input():
        if line.startswith("{"):
            result = json.loads(line)
            results[result["name"]] = result
    print("| " + " | ".join(heading for heading, _ in columns) + " |")
    print("|---|" + "---:|" * (len(columns) - 1))
    for name in sorted(results):
        result = results[name]
        row = [cell(text, result) for _, text in columns]
        if result["status"] != "ok":
            row[0] += f" ({result['status']})"
        print("| " + " | ".join(row) + " |")
