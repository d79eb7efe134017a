#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compiles for AArch64 and runs under qemu: kernels' tests, digits and super-resolution (tests/cross/cross.cmake).
# Installs the cross compiler and qemu where they are missing. Takes a few minutes; with --all, which adds the tests that
# take long to compile, twice as many. Other arguments are ctest's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh

require_packages "${cross_packages[@]}"
targets=(tests/all) without=(--label-exclude '^slow$') configure_options=(-D DNNKIT_THOROUGH_TESTS=OFF)
if [ "${1:-}" = --all ]; then
  shift
  targets+=(slow_tests) without=() configure_options=(-D DNNKIT_THOROUGH_TESTS=ON)
fi
build_preset aarch64 "${targets[@]}"
exec ctest --preset aarch64 "${without[@]}" --parallel "$(jobs)" --no-label-summary --no-tests=error "$@"
