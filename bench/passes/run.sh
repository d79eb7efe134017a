#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the passes are worth, as Markdown tables.
#   bash bench/passes/run.sh plans [MODEL ...]        kernels, bytes of intermediates and arena of the zoo's models by no
#                                                     passes, by fusion, with stages, by all; and what papers publish
#   bash bench/passes/run.sh rewriting [MODEL ...]    operators, kernels and FLOPs with passes of algebra and without
#   bash bench/passes/run.sh targets [MODEL ...]      kernels and expected times for a processor and a GPU, by their facts
#   bash bench/passes/run.sh ablation [--jobs N] plan|build|compare|measure|table [MODEL ...]
#                                                     each pass left out in turn: plans, programs, their results and
#                                                     times, a table of these
# The first three read plans alone: seconds. The programs of the last lie in build/ablation, and both `build` and `measure`
# go on where they were stopped. ZOO_TOOL names another tool than the one built in build/release, ZOO_PYTHON a Python that
# has numpy, onnx and onnxruntime, which only `ablation` needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh

table=${1:-}
case $table in
  plans | rewriting | targets)
    require_packages python3 >&2
    source tests/support/tool.sh
    exec python3 "bench/passes/$table.py" --tool "$tool" "${@:2}"
    ;;
  ablation)
    source tests/support/runtime_peer.sh
    exec "$python" bench/passes/ablation.py --tool "$tool" --work build/ablation "${@:2}"
    ;;
  *)
    printf 'usage: bash bench/passes/run.sh plans|rewriting|targets|ablation ..., as its first lines explain\n' >&2
    exit 2
    ;;
esac
