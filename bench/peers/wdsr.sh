#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Times the super-resolution example against ONNX Runtime, one thread each, interleaved; prints one JSON line a photograph.
# Usage: bash bench/peers/wdsr.sh [CORE]; the virtual environment with pip's onnxruntime goes to build/peers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh

require_packages "${build_packages[@]}" python3 python3-venv
environment=build/peers/environment
if ! "$environment/bin/python" -c 'import numpy, onnxruntime, PIL' 2>/dev/null; then
  say "installing onnxruntime into $environment" >&2
  python3 -m venv --clear "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check onnxruntime numpy pillow >&2
fi
build_preset release super_resolution >&2
exec "$environment/bin/python" bench/peers/wdsr.py "$@"
