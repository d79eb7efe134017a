#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compiles the zoo's graphs, runs them and compares them with ONNX Runtime: one JSON object a line.
# With --target opencl on a device, PoCL's say, opencl_images with values in its images; what has no kernels there is
# `unsupported`.
#   bash tests/zoo/run.sh [--graphs DIR] [--no-time] [--reuse] [--plan] [--target opencl|opencl_images [--device NAME]] [NAME ...]
# Weights, programs and the Python packages go to build/zoo and build/venv. ZOO_TOOL names another tool than the one
# built in build/release, ZOO_PYTHON a Python that has numpy, onnx and onnxruntime.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh
source tests/support/runtime_peer.sh

mkdir -p build/zoo
exec "$python" tests/zoo/run.py --work build/zoo --tool "$tool" "$@"
