#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every header belongs to one layer, that of its folder or its own, and includes only its own or a lower one
# (docs/design.md). Usage: layers.sh FOLDER, which holds dnnkit/.
set -euo pipefail
cd "$1"

grep -rHno --include='*.hpp' '^#include "dnnkit/[^"]*"' dnnkit | awk -F: '
  BEGIN {
    split("core tensor operator op graph rewrite cost plan pass reference cpu opencl weights onnx source runtime inspect", folders, " ")
    split("0    1      2        2  3     4       4    5    6    6         7   7      8       9    8      8       10", numbers, " ")
    for (i in folders) layer[folders[i]] = numbers[i]
    own["dnnkit/compile.hpp"] = 7          # passes, plan and kernels of a model
    own["dnnkit/reference/operators_of.hpp"] = 7  # the operators of a model
    own["dnnkit/fmt.hpp"] = 8              # how what the others are made of is written
    own["dnnkit/runtime/program.hpp"] = 10  # a whole program around a network, with a trace
  }
  function layer_of(path,   parts) {
    if (path in own) return own[path]
    if (split(path, parts, "/") == 2) return 11  # a door to the library
    if (!(parts[2] in layer)) { print path ": belongs to no layer"; wrong = 1; return 11 }
    return layer[parts[2]]
  }
  {
    included = $3; sub(/^#include "/, "", included); sub(/"$/, "", included)
    if (layer_of(included) > layer_of($1)) { print $1 ":" $2 ": includes " included " of a higher layer"; wrong = 1 }
    ++count
  }
  END { print count " includes"; exit wrong || count == 0 }'
