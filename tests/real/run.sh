#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Models that Python packages ship, checked, interpreted, compiled, run and compared with ONNX Runtime: one JSON object a
# line.
#   bash tests/real/run.sh [--no-build] [--no-interpret] [--no-time] [--reuse] [--list] [NAME ...]
# NAME is that of a package (silero-vad) or of one of its models (silero-vad/silero_vad_half). Packages are downloaded by
# pip into the folder that REAL_CACHE names, by default build/real/packages, and are not installed; programs go to
# build/real. ZOO_TOOL names another tool than the one built in build/release, ZOO_PYTHON a Python that has numpy, onnx and
# onnxruntime.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh
source tests/support/runtime_peer.sh

mkdir -p build/real
exec "$python" tests/real/run.py --work build/real --packages "${REAL_CACHE:-build/real/packages}" --tool "$tool" "$@"
