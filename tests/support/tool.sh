# SPDX-License-Identifier: MIT
# Sets `tool`, the program dnnkit, which is built unless ZOO_TOOL names another one; to be sourced behind cmake/shell.sh, in
# the project's folder.
tool=${ZOO_TOOL:-build/release/bin/dnnkit}
if [ -z "${ZOO_TOOL:-}" ]; then
  require_packages "${build_packages[@]}" >&2
  build_preset release dnnkit_tool >&2
fi
