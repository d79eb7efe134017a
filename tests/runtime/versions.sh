#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program with kernels for several instruction sets: nothing of one is in another's object, nothing but the function that
# returns the kernels leaves an object, and the program is right with each set that the processor has.
#   bash tests/runtime/versions.sh "PROGRAM ARGUMENT..." NAME_kernels_ISA.o...
set -euo pipefail
read -ra program <<<"$1"
shift

fail() { printf 'failed: %s\n' "$*" >&2; exit 1; }
isa_of() { sed -E 's/.*_kernels_([a-z0-9_]+)\.o$/\1/' <<<"$1"; }

for object in "$@"; do
  isa=$(isa_of "$object")
  seen=$(nm --defined-only --extern-only --demangle "$object" | cut -d' ' -f3-)
  [[ $seen == "dnnkit::cpu::version_of<"*"dnnkit::targets::$isa, "*"::get()" && $(wc -l <<<"$seen") = 1 ]] ||
    fail "$object shows other programs more than one function of $isa: $seen"
  names=$(nm --demangle "$object")
  grep -q "dnnkit::cpu::$isa::" <<<"$names" || fail "$object has no kernels of $isa"
  for other in sse2 avx2 avx512 avx512_vnni avx512_amx neon portable; do
    [ "$other" = "$isa" ] || ! grep -E "dnnkit::(targets|cpu)::$other\b" <<<"$names" || fail "$object has names of $other"
  done
done

run() { DNNKIT_ISA=$1 "${program[@]}" 2>&1; }
said=$(run sse9) && fail "an instruction set that does not exist is taken"
[[ $said == *"DNNKIT_ISA: is no instruction set that the program can run with"* ]] || fail "$said"
here=${said#*and the processor, too (}
here=${here%%)*}
ran=0
for object in "$@"; do
  isa=$(isa_of "$object")
  if grep -qw "$isa" <<<"$here"; then
    said=$(run "$isa") || fail "$isa: $said"
    ran=$((ran + 1))
  else
    said=$(run "$isa") && fail "$isa, which the processor does not have, is taken"
    [[ $said == *"found $isa"* ]] || fail "$isa: $said"
  fi
done
echo "$# objects, $ran instruction sets run here"
[ "$ran" -gt 0 ]
