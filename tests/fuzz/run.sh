#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the libFuzzer targets of this folder. Usage: bash tests/fuzz/run.sh [SECONDS] [TARGET ...]: so long for each
# target, 60 by default; all of them, or those named (safetensors, onnx, npy, passes, ...). Each starts from
# tests/fuzz/seeds/<target>, onnx_import from those of onnx; both of these also from the small files of ONNX's own test
# data, where that is installed (Debian: libonnx-testdata).
# The last line is `N passed, N failed`; an input that failed stays in build/fuzz/<target>.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh
seconds=${1:-60}
targets=("${@:2}")
test_data=/usr/share/libonnx-testdata/data

require_packages "${build_packages[@]}" clang-16 libclang-rt-16-dev
build_preset fuzz fuzz

if [ "${#targets[@]}" -eq 0 ]; then
  for program in build/fuzz/bin/fuzz_*; do
    [ -x "$program" ] && targets+=("$(basename "$program" | sed 's/^fuzz_//')")
  done
fi

passed=0 failed=0
for target in "${targets[@]}"; do
  corpus=build/fuzz/fuzz_$target
  seeds=()
  [ -d "tests/fuzz/seeds/$target" ] && seeds+=("tests/fuzz/seeds/$target")
  mkdir -p "$corpus/corpus"
  kinds=()  # of files in the test data that the target reads
  if [ "$target" = onnx ]; then kinds=(-name '*.onnx' -o -name '*.pb'); fi
  if [ "$target" = onnx_import ]; then
    kinds=(-name '*.onnx')
    seeds=(tests/fuzz/seeds/onnx)
  fi
  if [ "${#kinds[@]}" -gt 0 ] && [ -d "$test_data" ]; then
    if [ ! -d "$corpus/test_data" ]; then
      mkdir "$corpus/test_data"
      find "$test_data" -type f \( "${kinds[@]}" \) -size -8 -print0 |
        while IFS= read -r -d '' file; do
          cp "$file" "$corpus/test_data/$(printf '%s' "${file#"$test_data"/}" | tr / _)"
        done
    fi
    seeds+=("$corpus/test_data")
  fi
  say "$target for $seconds seconds"
  if "build/fuzz/bin/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -verbosity=0 -artifact_prefix="$corpus/" "$corpus/corpus" "${seeds[@]}"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
