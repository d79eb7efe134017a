#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compiles the C++ of a document (extract.awk). With `run`, the program that it is has to succeed, too.
# Usage: compile.sh check|run ROOT DOCUMENT SCRATCH COMPILER OPTION...
set -euo pipefail
what=$1 root=$2 document=$3 scratch=$4
shift 4

mkdir -p "$scratch"
unit=$scratch/$(basename "$document" .md).cpp
awk -v path="$document" -f "$root/tests/docs/extract.awk" "$root/$document" >"$unit"
case $what in
  check) exec "$@" -fsyntax-only "$unit" ;;
  run) "$@" "$unit" -o "$scratch/program" -pthread && exec "$scratch/program" ;;
esac
