#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares the time that the cost model predicts for each kernel of networks of the zoo with the time it takes.
# Usage: bash bench/costs/run.sh [--rounds N] [--core N] [--kernels] [NAME...]; ten networks where none is named.
# Prints a Markdown table; each kernel goes to build/costs/kernels.jsonl. Weights and programs lie in build/costs, too,
# and programs are compiled again where they are older than the tool (--reuse: only where there is none).
# COSTS_TOOL names another tool than the one built in build/release, PEERS_PYTHON a Python that has numpy and onnx.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh

python=$(peers_python)
if [ -z "${COSTS_TOOL:-}" ]; then
  require_packages "${build_packages[@]}" >&2
  build_preset release dnnkit_tool bench_peak >&2
fi
exec "$python" bench/costs/measure.py --tool "${COSTS_TOOL:-build/release/bin/dnnkit}" \
  --peak build/release/bin/bench_peak "$@"
