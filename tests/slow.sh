#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What .ci/run leaves out because it takes long: compiles what no test runs (tests/all_targets.sh), builds and runs the tests
# of kernels thoroughly, on this processor and on AArch64, and those labelled slow, runs OpenCL's kernels as PoCL optimises them
# and of 300 random graphs, then all tests that the address and undefined-behaviour sanitizers have, those of kernels that take
# long to compile among them, with all of their checks.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/shell.sh

bash tests/all_targets.sh
configure_options=(-D DNNKIT_GROUP_TESTS=ON -D DNNKIT_THOROUGH_TESTS=ON)
build_preset release all slow_tests
ctest --test-dir build/release --label-regex '^(cpu|slow)$' --parallel "$(jobs)" --output-on-failure --no-label-summary --no-tests=error

bash tests/cross/run.sh --all

say "running OpenCL's kernels, optimised"
DNNKIT_CACHE= build/release/bin/tests_opencl
POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable DNNKIT_CACHE= DNNKIT_SEEDS=300 build/release/bin/tests_opencl \
  --source-file=*/tests/opencl/random_graphs.cpp

say "building every test with sanitizers"
cmake --preset sanitize -B build/sanitize_all -D DNNKIT_SANITIZE_ALL=ON --log-level=WARNING
cmake --build build/sanitize_all --parallel "$(jobs)" --target all slow_tests
exec ctest --test-dir build/sanitize_all --parallel "$(jobs)" --output-on-failure --no-label-summary --no-tests=error
