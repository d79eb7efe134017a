#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compiles what no test runs: the benchmarks, the fuzz targets, the programs of slow suites, and each header that no test
# includes first, by itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/shell.sh

require_packages "${build_packages[@]}"
build_preset release test_headers bench fuzz_compiles conformance conformance_sources
