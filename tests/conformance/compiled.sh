#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds build/release/bin/conformance_compiled: ONNX's backend tests as C++, some dozens a file, compiled and linked. Takes
# a quarter of an hour on two processors; what is there already is not compiled again.
#   bash tests/conformance/compiled.sh [DATA [STATUS]]   (folder of tests, by default Debian's libonnx-testdata, and the
#                                                        list of those that are not passed, by default status.txt)
#   build/release/bin/conformance_compiled --data DATA
# A file that does not compile is cut in two until the tests at fault stand alone; they are listed in
# build/conformance/not_compiled.txt and count as not passed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh

data=${1:-/usr/lib/python3/dist-packages/onnx/backend/test/data}
status=$(realpath "${2:-tests/conformance/status.txt}")
sources=${CONFORMANCE_SOURCES:-build/release/bin/conformance_sources}
out=${CONFORMANCE_OUT:-build/conformance}
program=${CONFORMANCE_PROGRAM:-build/release/bin/conformance_compiled}
include=${CONFORMANCE_INCLUDE:-include}
compiler=${CXX:-g++}
[ -n "${CONFORMANCE_SOURCES:-}" ] || build_preset release conformance_sources
flags=(-std=c++20 -O1 -march=native "-I$include" -I. -Wno-maybe-uninitialized
       "-DDNNKIT_CONFORMANCE_STATUS=\"$status\""
       "-DDNNKIT_CONFORMANCE_WEIGHTS=\"$(realpath -m "$out")\"")
if "$compiler" --version | grep -q clang; then
  flags+=(-fconstexpr-steps=2147483647 -fconstexpr-depth=4096 -fbracket-depth=4096)
else
  flags+=(-fconstexpr-ops-limit=2147483647 -fconstexpr-loop-limit=10000000 -fconstexpr-depth=4096)
fi
mkdir -p "$out"
rm -f "$out"/not_compiled.txt "$out"/group*_*[ab]_*
"$sources" --data "$data" --status "$status" --out "$out"

# compile FILE: an object beside it, or those of its halves.
compile() {
  local file=$1 object=${1%.cpp}.o tests half name
  if [ "$object" -nt "$file" ]; then return 0; fi
  if "$compiler" "${flags[@]}" -c "$file" -o "$object" 2>"${file%.cpp}.log"; then
    say "$(basename "$file")" >&2
    return 0
  fi
  rm -f "$object"
  tests=$(sed 's/\.test_data_set.*//' "$file.names" | sort -u | wc -l)
  if [ "$tests" -le 1 ]; then
    echo "$(cat "$file.names"): $(grep -m1 -E 'error' "${file%.cpp}.log" || tail -1 "${file%.cpp}.log")" >>"$out/not_compiled.txt"
    return 0
  fi
  half=$(((tests + 1) / 2))
  name=$(basename "$file" .cpp)
  sed 's/\.test_data_set.*//' "$file.names" | sort -u >"$out/$name.all"
  head -n "$half" "$out/$name.all" >"$out/$name.a"
  tail -n +"$((half + 1))" "$out/$name.all" >"$out/$name.b"
  for part in a b; do
    "$sources" --data "$data" --status "$status" --out "$out" --prefix "$name$part" --names "$out/$name.$part" --per-file 1000 >/dev/null
    for file in "$out/$name${part}"_*.cpp; do compile "$file"; done
  done
}
export -f compile say
export out data status sources compiler
printf '%s\n' "$out"/group_*.cpp | grep -E '/group_[0-9]+\.cpp$' |
  xargs -P "${CONFORMANCE_JOBS:-$(jobs)}" -I{} bash -c "$(declare -p flags); compile {}"
"$compiler" "${flags[@]}" tests/conformance/compiled.cpp "$out"/*.o -o "$program" -pthread
say "$program"
