#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The tables of operators in docs/onnx.md and docs/operators.md are what the tool prints; with --fix they are written anew.
#   bash tests/onnx/operator_table.sh [--fix] [TOOL]      (by default build/release/bin/dnnkit)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
fix=
[ "${1:-}" = --fix ] && fix=yes && shift
tool=${1:-build/release/bin/dnnkit}

# compare PAGE COMMAND...: between the marks in the page there is what the command prints.
compare() {
  local page=$1 begin="<!-- operators: what \`dnnkit ${*:2}\` prints -->" end='<!-- end of operators -->' fresh
  grep -qxF -- "$begin" "$page" && grep -qxF -- "$end" "$page" || { echo "$page: the marks around the table are missing" >&2; return 1; }
  fresh=$(awk -v begin="$begin" '{ print } $0 == begin { exit }' "$page"; echo; "$tool" "${@:2}"; echo
          awk -v end="$end" '$0 == end { on = 1 } on' "$page")
  if [ -n "$fix" ]; then
    printf '%s\n' "$fresh" >"$page"
  elif ! diff <(printf '%s\n' "$fresh") "$page"; then
    echo "$page: the table of operators is not what the tool prints; bash tests/onnx/operator_table.sh --fix" >&2
    return 1
  fi
}
compare docs/onnx.md operators
compare docs/operators.md operators --reference
