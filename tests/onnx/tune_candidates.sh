#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dnnkit tune on a small model: the programs that it compiles, with a candidate of each kernel, and measures.
#   bash tests/onnx/tune_candidates.sh TOOL MODELS      (as tune.sh)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/says.sh"
tool=$(realpath "$1") small=$(realpath "$2")/small.onnx
scratch=$(mktemp -d "$PWD/tune.XXXXXX")
trap 'rm -r "$scratch"' EXIT
cd "$scratch"

# A compiler that keeps what it compiles: PROGRAM_UNIT.o.
cat >keeping <<'END'
#!/bin/bash
"$COMPILER" "$@" || exit
object=${!#} folder=$(dirname "${!#}")
case " $* " in *" -c "*) cp "$object" "$(basename "$folder" .source)_${object##*/}" ;; esac
END
chmod +x keeping
says 0 "kernels: ,ms untuned,seed 5,generation 1 of 1: program 1 of 1" env COMPILER="${CXX:-c++}" CXX="$PWD/keeping" \
  "$tool" tune "$small" -o table.hpp --flags -O0 --generations 1 --population 1 --rounds 2 --seed 5
[ -z "$(ls -d ./*.work 2>/dev/null)" ] || fail "a folder was left: $(ls -d ./*.work)"
grep -A1 '^ *// Conv Relu: 1x2x4x4, 3x2x3x3, 3 -> 1x3x4x4$' table.hpp | grep '{0x[0-9a-f]*, "conv_[a-z]*", [0-9.]*' >/dev/null || fail "no row of the convolution: $(cat table.hpp)"
functions() { nm "$1_small_kernels_1.o" | sed 's/.* //'; }
! cmp -s <(functions untuned) <(functions program_1_1) || fail "the candidates are compiled to the untuned program"
