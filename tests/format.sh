#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks the formatting of every C++ file with clang-format 14, the version that .clang-format is written for, and names the
# files that differ; and the lines longer than its limit, since it leaves comments alone.
# Usage: bash tests/format.sh [--fix], which formats them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/shell.sh

require_packages "${format_packages[@]}"
mapfile -d '' files < <(find include tests examples bench cmake -type f \( -name '*.hpp' -o -name '*.cpp' \) -print0)
if [ "${1:-}" = --fix ]; then
  clang-format-14 --style=file -i "${files[@]}"
fi
# Copies are formatted, many by one process, which takes a fraction of the time that a process a file takes.
# Not --dry-run, which finds fault with the ends of namespaces like a::inline b however they are written.
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
cp --parents .clang-format "${files[@]}" "$scratch"
(cd "$scratch" && printf '%s\0' "${files[@]}" | xargs -0 -n 100 -P "$(jobs)" clang-format-14 --style=file -i)
differing=0
for file in "${files[@]}"; do
  cmp --quiet "$scratch/$file" "$file" && continue
  echo "not formatted: $file"
  differing=$((differing + 1))
done
say "clang-format: ${#files[@]} files, $differing to be formatted by tests/format.sh --fix"
long=$(awk 'length > 120 { print FILENAME ":" FNR ": longer than 120 characters" }' "${files[@]}")
[ -z "$long" ] || echo "$long"
[ "$differing" -eq 0 ] && [ -z "$long" ]
