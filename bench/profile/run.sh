#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The profile database of fusion (docs/fusion.md), for the instruction set of this machine, AVX2 or AVX-512.
#   bash bench/profile/run.sh measure        measures pairs of operators in one kernel and in two, on one core, for two minutes,
#                                            and writes the table, include/dnnkit/cost/profile/avx2.hpp or avx512.hpp
#   bash bench/profile/run.sh differences    Markdown tables: where the table decides otherwise than the cost model would, of
#                                            the pairs measured, and of the edges of the zoo's models
# The programs take a quarter of an hour to compile. BENCH_PREFIX: what measuring is to run under, "taskset -c 1" by default.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh

case ${1:-} in
  measure)
    require_packages "${build_packages[@]}" >&2
    build_preset release bench_profile >&2
    set_name=avx2
    ! grep -qw avx512dq /proc/cpuinfo || set_name=avx512
    header=include/dnnkit/cost/profile/$set_name.hpp
    # shellcheck disable=SC2086
    ${BENCH_PREFIX:-taskset -c 1} build/release/bin/bench_profile >build/profile.hpp
    mv build/profile.hpp "$header"
    say "wrote $header: $(grep -c '^    {{' "$header") entries"
    ;;
  differences)
    require_packages "${build_packages[@]}" >&2
    build_preset release bench_profile >&2
    build/release/bin/bench_profile differences
    source tests/support/tool.sh
    exec python3 bench/profile/differences.py --tool "$tool" "${@:2}"
    ;;
  *)
    printf 'usage: bash bench/profile/run.sh measure|differences, as its first lines explain\n' >&2
    exit 2
    ;;
esac
