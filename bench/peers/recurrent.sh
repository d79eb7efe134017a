#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Times recurrent layers against ONNX Runtime, one thread each, interleaved; prints one JSON line a layer.
#   bash bench/peers/recurrent.sh [CORE [PART OF A NAME ...]]      (all layers by default)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh

python=$(peers_python)
build_preset release dnnkit_tool >&2
exec "$python" bench/peers/recurrent.py "$@"
