#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dnnkit beside ONNX Runtime, OpenVINO, ncnn and MNN, on models of the zoo, in turns on one processor, in 32-bit floats.
#   bash bench/peers/engines.sh [--threads N] [--engines NAME,...] [--avx2] [--reuse] [MODEL ...]     (bench/peers/engines.py --help)
# Sets up all of them (pip, in build/peers/engines/environment), prints a JSON line a model, then a table, and draws
# build/peers/engines/N_threads.svg, or N_threads_avx2.svg. Hours for all 22 models, as compiling and converting is part of it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh

work=build/peers/engines
python=${PEERS_PYTHON:-$work/environment/bin/python}
packages=(numpy onnx onnxruntime openvino ncnn pnnx MNN matplotlib)
if ! "$python" -c 'import matplotlib, MNN, ncnn, numpy, onnx, onnxruntime, openvino' 2>/dev/null; then
  say "installing ${packages[*]} into $work/environment" >&2
  require_packages python3-venv >&2
  python=$work/environment/bin/python
  python3 -m venv "$work/environment"
  "$python" -m pip install --quiet --disable-pip-version-check "${packages[@]}" >&2
fi
build_preset release dnnkit_tool bench_peak >&2

threads=1 within=
for ((i = 1; i <= $#; ++i)); do
  case ${!i} in
    --threads) next=$((i + 1)) && threads=${!next-} ;;
    --avx2) within=_avx2 ;;
  esac
done
"$python" bench/peers/engines.py --work "$work" --tool build/release/bin/dnnkit --peak build/release/bin/bench_peak "$@" ||
  status=$?
"$python" bench/peers/engines_table.py "$work/results_$threads$within.jsonl" "$work/${threads}_threads$within.svg"
exit "${status:-0}"
