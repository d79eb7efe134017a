#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Random ONNX graphs through ONNX Runtime and dnnkit; the last line is `N passed, N failed, N skipped`.
#   bash tests/random/run.sh [--graphs N] [--seed S] [--index I] [--compiled K] [--only OP,...]
# Failures are made small and kept in build/random/failures/SEED_INDEX. RANDOM_TOOL names another tool than the one built
# in build/release, PEERS_PYTHON a Python that has numpy, onnx and onnxruntime.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh

python=$(peers_python)
tool=${RANDOM_TOOL:-build/release/bin/dnnkit}
if [ -z "${RANDOM_TOOL:-}" ]; then
  require_packages "${build_packages[@]}" >&2
  build_preset release dnnkit_tool >&2
fi
mkdir -p build/random
exec "$python" tests/random/run.py --work build/random --tool "$tool" "$@"
