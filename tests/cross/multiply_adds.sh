#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The tiles of a product multiply and add in one instruction on AArch64, and spill nothing: in the functions that compute
# them there is fmla, and no product or sum of vectors besides.   multiply_adds.sh OBJDUMP PROGRAM
set -euo pipefail
"$1" --disassemble --demangle --no-show-raw-insn "$2" | awk '
  /^[0-9a-f]+ </ { tile = /run_tile<13, 2/; tiles += tile }
  tile && $2 == "fmla" { ++fused }
  tile && $2 == "fmul" && /\.4s/ { ++apart; print }
  END { print tiles " tiles of 13 x 2 vectors, " fused " multiply-adds, " apart + 0 " products apart"; exit !tiles || !fused || apart }'
