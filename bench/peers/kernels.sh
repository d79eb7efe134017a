#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Counts kernels against the nodes that ONNX Runtime runs, model by model: the zoo's and networks of many concatenations,
# paddings or parallel branches. Prints a Markdown table, with their geometric mean last; weights are made and dropped.
#   bash bench/peers/kernels.sh [--json] [MODEL ...]      (all by default)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh
source tests/support/runtime_peer.sh

exec "$python" bench/peers/kernels.py --work build/peers/kernels --tool "$tool" "$@"
