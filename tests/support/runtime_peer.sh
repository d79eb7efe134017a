# SPDX-License-Identifier: MIT
# What suites need that compare models with ONNX Runtime; to be sourced behind cmake/shell.sh, in the project's folder.
# Sets `python`, which has numpy, onnx and onnxruntime (ZOO_PYTHON names another one), and `tool`, the program dnnkit, which
# is built unless ZOO_TOOL names another one.
python=$(PEERS_PYTHON=${ZOO_PYTHON:-} peers_python)
tool=${ZOO_TOOL:-build/release/bin/dnnkit}
if [ -z "${ZOO_TOOL:-}" ]; then
  require_packages "${build_packages[@]}" >&2
  build_preset release dnnkit_tool >&2
fi
