#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compiles for AArch64 and runs under qemu: the kernels' tests, digits and super-resolution (tests/cross/cross.cmake).
# Installs the cross compiler and qemu where they are missing. Takes a few minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh

require_packages "${cross_packages[@]}"
build_preset aarch64 tests/all
exec ctest --preset aarch64 --parallel "$(jobs)" --no-label-summary --no-tests=error "$@"
