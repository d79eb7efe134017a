#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# From the start of a process to the first result, and the largest resident memory: dnnkit's program against ONNX Runtime's
# session creation and first run, one thread each, one JSON object a model.
#   bash bench/peers/startup.sh [MODEL ...]      (of tests/zoo; mobilenet_v2 and bert_base by default)
# The programs are those of tests/zoo/run.sh, which compiles what is missing into build/zoo.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
models=("$@")
[ ${#models[@]} -gt 0 ] || models=(mobilenet_v2 bert_base)
wanted=()
for model in "${models[@]}"; do [ -x "build/zoo/$model/program" ] || wanted+=("$model"); done
[ ${#wanted[@]} -eq 0 ] || bash tests/zoo/run.sh --no-time "${wanted[@]}" >&2
exec "${ZOO_PYTHON:-build/venv/bin/python}" bench/peers/startup.py build/zoo "${models[@]}"
