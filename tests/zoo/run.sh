#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compiles the zoo's graphs, runs them and compares them with ONNX Runtime: one JSON object a line.
#   bash tests/zoo/run.sh [--graphs DIR] [--no-time] [--reuse] [--plan] [NAME ...]
# Weights, programs and the Python packages go to build/zoo and build/venv. ZOO_TOOL names another tool than the one
# built in build/release, ZOO_PYTHON a Python that has numpy, onnx and onnxruntime.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh

python=${ZOO_PYTHON:-build/venv/bin/python}
if [ -z "${ZOO_PYTHON:-}" ] && ! "$python" -c 'import numpy, onnx, onnxruntime' 2>/dev/null; then
  say "installing numpy, onnx and onnxruntime into build/venv" >&2
  require_packages python3-venv >&2
  python3 -m venv build/venv
  "$python" -m pip install --quiet numpy onnx onnxruntime >&2
fi
tool=${ZOO_TOOL:-build/release/bin/dnnkit}
if [ -z "${ZOO_TOOL:-}" ]; then
  require_packages "${build_packages[@]}" >&2
  build_preset release dnnkit_tool >&2
fi
mkdir -p build/zoo
exec "$python" tests/zoo/run.py --work build/zoo --tool "$tool" "$@"
