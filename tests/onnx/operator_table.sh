#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The table of operators in docs/onnx.md is what the tool prints; with --fix it is written anew.
#   bash tests/onnx/operator_table.sh [--fix] [TOOL]      (by default build/release/bin/dnnkit)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
fix=
[ "${1:-}" = --fix ] && fix=yes && shift
tool=${1:-build/release/bin/dnnkit}
page=docs/onnx.md begin='<!-- operators: what `dnnkit operators` prints -->' end='<!-- end of operators -->'

grep -qxF -- "$begin" "$page" && grep -qxF -- "$end" "$page" || { echo "$page: the marks around the table are missing" >&2; exit 1; }
fresh=$(awk -v begin="$begin" '{ print } $0 == begin { exit }' "$page"; echo; "$tool" operators; echo
        awk -v end="$end" '$0 == end { on = 1 } on' "$page")
if [ -n "$fix" ]; then
  printf '%s\n' "$fresh" >"$page"
elif ! diff <(printf '%s\n' "$fresh") "$page"; then
  echo "$page: the table of operators is not what the tool prints; bash tests/onnx/operator_table.sh --fix" >&2
  exit 1
fi
