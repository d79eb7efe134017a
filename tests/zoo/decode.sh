#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the zoo's GPT-2 with a cache, token after token, against the model without one and ONNX Runtime (decode.py says
# how): one JSON object a line.
#   bash tests/zoo/decode.sh [--tokens N] [--rounds N] [--flags FLAGS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh
source tests/support/runtime_peer.sh

mkdir -p build/zoo
exec "$python" tests/zoo/decode.py --work build/zoo --tool "$tool" "$@"
