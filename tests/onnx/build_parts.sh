#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dnnkit build --kernel-parts, with all passes and without some of them: programs of a model with weights, in two units.
#   bash tests/onnx/build_parts.sh TOOL MODELS      (as build.sh)
set -euo pipefail
tool=$1 small=$2/small.onnx

source "$(dirname "${BASH_SOURCE[0]}")/../support/says.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../support/npy.sh"

input_of_small

says 0 "program_in_parts" "$tool" build "$small" -o program_in_parts --flags "-O0" --kernel-parts 2 -j 2 --keep-source
[ -e program_in_parts.source/small_kernels_1.o ] || fail "the kernels were not compiled in two units"
says 0 "" ./program_in_parts --input x=x.npy --output built_in_parts
holds built_in_parts/y.npy $wanted
touch program_in_parts.source/notes
# The same without some of the passes: as many kernels as explain says, an operator each.
says 0 "program_in_parts" "$tool" build "$small" -o program_in_parts --flags "-O0" --kernel-parts 2 -j 2 --without "plan fusion" --without join-stages
[ "$(ls program_in_parts.source)" = notes ] || fail "build leaves, besides what is not its own: $(ls program_in_parts.source)"
says 0 "5 kernels" ./program_in_parts --help
says 0 "" ./program_in_parts --input x=x.npy --output built_without_passes
holds built_without_passes/y.npy $wanted
