#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two versions of dnnkit on models of the zoo: the programs that both make, checked against ONNX Runtime, timed in turns on
# one processor, and the processor time of compiling them.
#   bash bench/peers/versions.sh [--no-time] [--reuse] BEFORE NOW MODEL ...     (bench/peers/versions.py --help)
# BEFORE and NOW are programs dnnkit, each beside the headers of its version (a worktree's build/release/bin/dnnkit).
# Prints a JSON line a model, then a table; weights, programs and results go to build/peers/versions. PEERS_PYTHON names a
# Python that has numpy, onnx and onnxruntime.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh

python=$(peers_python)
exec "$python" bench/peers/versions.py --work build/peers/versions "$@"
