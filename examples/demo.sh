#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Doubles the size of a photograph. Usage: bash examples/demo.sh [IN.png [OUT.png]]
# Installs what is missing, builds the program super_resolution and runs it; for X_low.png with X_high.png beside it, the
# program also prints how close the result comes to X_high.png.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
in=$(realpath -m "${1:-$root/examples/assets/chelsea_low.png}")
name=$(basename "${in%.png}")
out=$(realpath -m "${2:-$root/build/${name%_low}_x2.png}")
cd "$root"
source cmake/shell.sh

[ -f "$in" ] || { echo "no such file: $in" >&2; exit 1; }
require_packages "${build_packages[@]}"
build_preset release super_resolution

options=()
reference=${in%_low.png}_high.png
[ "$in" != "$reference" ] && [ -f "$reference" ] && options=(--reference "$reference")
say "doubling $in"
# its last line is the number that --time is for
build/release/bin/super_resolution "$in" "$out" "${options[@]}" --time |
  sed -E '$s/^([0-9.]+)$/a run of the network takes \1 ms on one thread (median of 11)/'
say "result: $out ($(stat -c %s "$out") bytes)"
