#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Times recurrent layers against ONNX Runtime, one thread each, interleaved; prints one JSON line a layer.
#   bash bench/peers/recurrent.sh [PART OF A NAME ...]      (all layers by default)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh
source tests/support/runtime_peer.sh

exec "$python" bench/peers/recurrent.py --work build/peers/recurrent --tool "$tool" "$@"
