#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dnnkit build --isa: kernels for several instruction sets in one program, which chooses.
#   bash tests/onnx/build_isa.sh TOOL MODELS      (as build.sh)
set -euo pipefail
tool=$1 small=$2/small.onnx

source "$(dirname "${BASH_SOURCE[0]}")/../support/says.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../support/npy.sh"

input_of_small

says 0 "everywhere" "$tool" build "$small" -o everywhere --flags "-O0" --isa sse2,avx2 --kernel-parts 2 -j 2 --keep-source
bash "$(dirname "$0")/../runtime/versions.sh" "./everywhere --input x=x.npy --output chosen" everywhere.source/small_kernels_{sse2,avx2}.o
says 0 "instruction sets: sse2 and avx2; the widest" ./everywhere --help
rm -r chosen
says 0 "" env DNNKIT_ISA=sse2 ./everywhere --input x=x.npy --output chosen --trace trace.json --time 2
holds chosen/y.npy $wanted
grep -q Conv trace.json || fail "the trace has no kernel: $(cat trace.json)"
says 2 "DNNKIT_ISA: is no instruction set that the program can run with,found neon" env DNNKIT_ISA=neon ./everywhere --input x=x.npy
