#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing, builds everything and runs the tests: those of the release build, and those chosen to run under
# the address, undefined-behaviour and thread sanitizers. Programs that must not compile and projects that use dnnkit are left
# to .ci/run, what takes long to tests/slow.sh. ctest's summary comes last; the exit status says pass or fail. Arguments are ctest's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/shell.sh

require_packages "${build_packages[@]}"
# Compiling most tests by themselves takes a third longer; tests/slow.sh runs them thoroughly.
configure_options=(-D DNNKIT_GROUP_TESTS=ON -D DNNKIT_THOROUGH_TESTS=OFF)
for preset in sanitize thread release; do build_preset "$preset"; done

# One list of tests over the three build folders: the names of the sanitized ones begin with sanitize/ and thread/.
mkdir -p build/all
echo 'subdirs("../release" "../sanitize" "../thread")' >build/all/CTestTestfile.cmake
say "running the tests"
exec ctest --test-dir build/all --label-exclude '^(fail|consumer|slow)$' --parallel "$(jobs)" --output-on-failure \
  --no-label-summary --no-tests=error "$@"
