#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compiles what no test runs: the benchmarks, the fuzz targets, the programs of slow suites, and each header by itself
# that no test includes first in a unit of its own: nearly all, where tests/run.sh has configured that tests are grouped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/shell.sh

require_packages "${build_packages[@]}"
build_preset release test_headers bench fuzz_compiles conformance conformance_sources
