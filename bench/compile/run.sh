#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The compile-time table: seconds, peak memory and object size of models of growing size, with the compiler $CXX (g++ by default).
# Usage: bash bench/compile/run.sh [NAME...], where a NAME is one row, e.g. "chain 512", or one mode, plan or kernels.
# Prints a Markdown table; the same numbers go to build/compile/<compiler>.jsonl, the models' source beside them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh

require_packages g++ python3
exec python3 bench/compile/measure.py "$@"
