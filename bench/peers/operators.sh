#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Times single operators of several element types against ONNX Runtime, one thread each, interleaved; prints one JSON line
# an operator and type. Building them all takes a quarter of an hour; what is there already is not built again.
#   bash bench/peers/operators.sh [PART OF A NAME ...]      (all by default)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh
source tests/support/runtime_peer.sh

exec "$python" bench/peers/operators.py --work build/peers/operators --tool "$tool" "$@"
