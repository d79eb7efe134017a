#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks the formatting of every C++ file with clang-format 14, the version that .clang-format is written for; with --fix, repairs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/shell.sh

require_packages clang-format-14
mode=(--dry-run -Werror)
[ "${1:-}" = --fix ] && mode=(-i)
mapfile -d '' files < <(find include tests examples bench cmake -type f \( -name '*.hpp' -o -name '*.cpp' \) -print0)
clang-format-14 --style=file "${mode[@]}" "${files[@]}"
say "clang-format: ${#files[@]} files"
