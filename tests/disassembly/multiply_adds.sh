#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The inner loops of products and convolutions, in the functions that compute whole tiles, are multiply-adds: no vector in
# them goes to the stack, no product or sum of vectors stands alone, and on AArch64, where a multiply-add takes a factor from
# a lane of a vector, at least 85 of a hundred instructions are such, none of which goes to the stack.
# Which tiles are whole is what PROGRAM says of its plans (tests/disassembly/multiply_adds.cpp).
#   multiply_adds.sh OBJDUMP PROGRAM [EMULATOR...]
set -euo pipefail
plans=$("${@:3}" "$2" | sort -u)
"$1" --disassemble --no-show-raw-insn "$2" | awk -v plans="$plans" '
  BEGIN {
    engine_of["matrix_product"] = "gemm"; engine_of["conv_nhwc"] = "conv_of"
    for (n = split(plans, lines, "\n"); n > 0; --n) {
      split(lines[n], part, " ")
      if (part[1] in engine_of) loops[engine_of[part[1]] " " part[2] " x " part[3]] = 0
    }
  }

  /file format/ { is_x86 = /x86-64/ }

  # A function begins; its instructions are numbered from 1. Names are as the compiler writes them, too long for
  # demanglers: ...3cpu4neon4gemmI...8run_tileILi6ELi4E... is gemm<...>::run_tile<6, 4, ...>.
  /^[0-9a-f]+ </ {
    look_for_loops()
    count = 0; split("", number_of); split("", before); tile = ""
    if (match($0, /8run_tileILi[0-9]+ELi[0-9]+E/)) {
      split(substr($0, RSTART + 12, RLENGTH - 13), part, "ELi")
      engine = $0; sub(/^[^<]*<_ZN?K?6dnnkit3cpu[0-9]+(neon|avx2|avx512(_vnni|_amx)?)[0-9]+/, "", engine); sub(/I.*/, "", engine)
      tile = engine " " part[1] " x " part[2]
      if (!(tile in loops)) tile = ""
    }
    next
  }
  tile != "" && /^ +[0-9a-f]+:/ {
    address = $1; sub(/:/, "", address)
    number_of[address] = ++count
    operation[count] = $2; text[count] = $0; target[count] = ""
    if ($2 ~ /^(b|b\..*|cbn?z|tbn?z|j[a-z]+)$/ && match($0, /[0-9a-f]+ </)) target[count] = substr($0, RSTART, RLENGTH - 2)
  }
  END {
    look_for_loops()
    for (tile in loops) {
      ++tiles
      if (loops[tile] == 0) { print tile ": no loop"; bad = 1 }
    }
    if (tiles == 0) { print "no whole tiles"; bad = 1 }
    exit bad
  }

  # A loop is a branch back, and all that leads there without passing where it goes to.
  function look_for_loops(   i, j, n, to) {
    if (tile == "") return
    for (i = 1; i <= count; ++i) {
      if (i > 1 && operation[i - 1] !~ /^(b|br|jmp|ret)$/) before[i] = before[i] " " i - 1
      if (target[i] in number_of) { to = number_of[target[i]]; before[to] = before[to] " " i }
    }
    n = 0; split("", head); split("", last)
    for (i = 1; i <= count; ++i)
      if (target[i] in number_of && number_of[target[i]] <= i) { head[++n] = number_of[target[i]]; last[n] = i }
    for (i = 1; i <= n; ++i) find_body(i)
    for (i = 1; i <= n; ++i) {
      if (size[i] == 0) continue
      for (j = 1; j <= n; ++j)
        if (j != i && size[j] > 0 && (i, last[j]) in body && (size[j] < size[i] || (size[j] == size[i] && j < i))) break
      if (j > n) judge(i)
    }
    split("", body)
  }
  function find_body(i,   waiting, at, ways, k) {
    size[i] = 1; body[i, head[i]]
    waiting = 0
    if (last[i] != head[i]) { body[i, last[i]]; ++size[i]; todo[++waiting] = last[i] }
    while (waiting > 0) {
      at = todo[waiting--]
      if (at == 1) { size[i] = 0; return }  # it is entered elsewhere, and so is no loop
      for (k = split(before[at], ways, " "); k > 0; --k)
        if (!((i, ways[k]) in body)) { body[i, ways[k]]; ++size[i]; todo[++waiting] = ways[k] }
    }
  }
  function judge(i,   k, fused, wrong) {
    fused = 0; wrong = ""
    for (k = 1; k <= count; ++k) {
      if (!((i, k) in body)) continue
      if (operation[k] ~ /^(fmla|vfmadd...ps)$/) ++fused
      else if (text[k] ~ /f(mul|add|sub) .*v[0-9]+\.4s|v(mul|add|sub)ps /) wrong = wrong "\n  stands alone:" text[k]
      if (text[k] ~ /\[sp|\(%r[bs]p.*%[xyz]mm|%[xyz]mm.*\(%r[bs]p/) wrong = wrong "\n  goes to the stack:" text[k]
    }
    if (fused == 0) return
    ++loops[tile]
    if (!is_x86 && fused < 0.85 * size[i]) wrong = wrong "\n  is less than 85 %"
    printf "%s: %d of %d instructions multiply and add, %.1f %%%s\n", tile, fused, size[i], 100 * fused / size[i], wrong
    if (wrong != "") bad = 1
  }'
