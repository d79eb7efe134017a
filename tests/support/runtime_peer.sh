# SPDX-License-Identifier: MIT
# What suites need that compare models with ONNX Runtime; to be sourced behind cmake/shell.sh, in the project's folder.
# Sets `python`, which has numpy, onnx and onnxruntime (ZOO_PYTHON names another one), and `tool` (tests/support/tool.sh).
python=$(PEERS_PYTHON=${ZOO_PYTHON:-} peers_python)
source tests/support/tool.sh
