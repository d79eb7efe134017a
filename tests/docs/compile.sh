#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compiles the C++ of a document (extract.awk), or the calls in its tables (operator_calls.awk). With `run`, the program
# that it is has to succeed, too.
# Usage: compile.sh check|calls|run ROOT DOCUMENT SCRATCH COMPILER OPTION...
set -euo pipefail
what=$1 root=$2 document=$3 scratch=$4
shift 4

mkdir -p "$scratch"
unit=$scratch/$(basename "$document" .md).cpp
script=extract
[ "$what" != calls ] || script=operator_calls
awk -v path="$document" -f "$root/tests/docs/$script.awk" "$root/$document" >"$unit"
case $what in
  check | calls) exec "$@" -fsyntax-only "$unit" ;;
  run) "$@" "$unit" -o "$scratch/program" -pthread && exec "$scratch/program" ;;
esac
