#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What README.md and docs/ point to exists: links, headings that links name, headers named in `code` (from
# include/dnnkit, or from the root), folders of the library, scripts that a reader is told to run, and what is said to be
# in a header, `name` (`header.hpp`).
# Usage: paths.sh ROOT
set -euo pipefail
cd "$1"

count=0 wrong=0
check() {  # check DOCUMENT NAME CANDIDATE...
  local document=$1 name=$2
  shift 2
  count=$((count + 1))
  for candidate in "$@"; do [ -e "$candidate" ] && return 0; done
  echo "$document: $name does not exist"
  wrong=$((wrong + 1))
}

headings() {  # headings DOCUMENT: as links name them
  grep -E '^#+ ' "$1" | sed -E 's/^#+ //' | tr '[:upper:] ' '[:lower:]-' | sed -E 's/[^a-z0-9_-]//g'
}

for document in README.md docs/*.md docs/*/*.md tests/README.md; do
  folder=$(dirname "$document")
  while read -r link; do
    file=${link%%#*}
    count=$((count + 1))
    headings "${file:+$folder/}${file:-$document}" | grep -xF "${link#*#}" >/dev/null && continue
    echo "$document: there is no heading of $link"
    wrong=$((wrong + 1))
  done < <(grep -oE '\]\([A-Za-z0-9_./-]*#[^)]*\)' "$document" | sed -E 's/^\]\((.*)\)$/\1/')
  while read -r link; do check "$document" "$link" "$folder/$link"
  done < <(grep -oE '\]\([A-Za-z0-9_./-]+\)' "$document" | sed -E 's/^\]\((.*)\)$/\1/')
  while read -r name; do
    check "$document" "$name" "include/dnnkit/$name" "include/$name" "$name" include/dnnkit/*/"$name"
  done < <(grep -oE '`<?[a-z0-9_./]+(\.(hpp|cpp|sh|cmake|txt)|/)>?`' "$document" | tr -d '`<>')
  while read -r name header; do
    count=$((count + 1))
    for found in "include/dnnkit/$header" include/dnnkit/*/"$header"; do [ -e "$found" ] && break; done
    if [ -e "$found" ] && ! grep -qE "(^|[^a-z0-9_])${name##*:}([^a-z0-9_]|$)" "$found"; then
      echo "$document: there is no $name in $header"
      wrong=$((wrong + 1))
    fi
  done < <(tr '\n' ' ' <"$document" | grep -oE '`[a-z0-9_:]+`  *\(`[a-z0-9_./]+\.hpp`\)' | sed -E 's/^`([^`]*)` *\(`([^`]*)`\)$/\1 \2/')
  while read -r script; do check "$document" "$script" "$script"
  done < <(grep -oE 'bash [a-z_]+/[a-z0-9_./]+\.sh' "$document" | sed 's/^bash //')
done
echo "$count paths"
[ "$wrong" -eq 0 ] && [ "$count" -gt 0 ]
