#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Models that ONNX Runtime's tools have quantised to 8 bits, against ONNX Runtime on the same files, one thread each,
# interleaved; beside OpenVINO where Python has it. Prints one JSON line a file.
#   bash bench/peers/quantised.sh [--no-time] [--reuse] [NAME[:KIND] ...]      (all 18 files by default)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh
source tests/support/runtime_peer.sh

exec "$python" bench/peers/quantised.py --work build/peers/quantised --tool "$tool" "$@"
