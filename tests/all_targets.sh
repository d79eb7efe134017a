#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compiles what no test runs: the benchmarks, the fuzz targets, the programs of slow suites, each header by itself that no
# test includes first in a unit of its own (nearly all, where tests/run.sh has configured that tests are grouped), and two
# examples by clang.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/shell.sh

require_packages "${build_packages[@]}"
build_preset release test_headers bench fuzz_compiles conformance conformance_sources

say "compiling examples by clang 16"
require_packages clang-16
build_preset clang digits super_resolution
