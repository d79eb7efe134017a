#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs each libFuzzer target of this folder. Usage: bash tests/fuzz/run.sh [SECONDS], for each target, 60 by default.
# The last line is `N passed, N failed`; an input that failed stays in build/fuzz/<target>.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh
seconds=${1:-60}

require_packages "${build_packages[@]}" clang-16 libclang-rt-16-dev
build_preset fuzz fuzz

passed=0 failed=0
for program in build/fuzz/bin/fuzz_*; do
  [ -x "$program" ] || continue
  name=$(basename "$program")
  corpus=build/fuzz/$name
  seeds=tests/fuzz/seeds/${name#fuzz_}
  mkdir -p "$corpus/corpus"
  say "$name for $seconds seconds"
  if "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$corpus/" "$corpus/corpus" $([ -d "$seeds" ] && echo "$seeds"); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
