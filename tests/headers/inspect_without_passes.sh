#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Printers are made of plan and log alone: the headers of inspect/ compile where there is no pass/.
#   bash tests/headers/inspect_without_passes.sh INCLUDE COMPILER OPTION...      (writes into the current folder)
set -euo pipefail
include=$1
shift

rm -rf include
mkdir -p include/dnnkit
for part in "$include"/dnnkit/*; do
  [ "$(basename "$part")" = pass ] || ln -s "$part" include/dnnkit/
done
for header in "$include"/dnnkit/inspect/*.hpp; do echo "#include <dnnkit/inspect/$(basename "$header")>"; done >all.cpp
"$@" -Iinclude -fsyntax-only all.cpp
