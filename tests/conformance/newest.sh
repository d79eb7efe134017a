#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the backend tests that the Python package of ONNX 1.23.2 makes: by the interpreter, with and without passes, by the
# plan, and compiled, which takes half an hour on two processors. Fails where what is passed is not what status_1.23.txt
# says, in either direction.
#   bash tests/conformance/newest.sh        (PEERS_PYTHON: a Python that has onnx 1.23.2 and onnxruntime)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/shell.sh

data=build/onnx_1.23/data
status=tests/conformance/status_1.23.txt
build_preset release conformance
"$(peers_python)" tests/conformance/write_tests.py "$data"
failed=0
for executor in reference passes plan; do
  say "$executor"
  build/release/bin/conformance --data "$data" --status "$status" --executor "$executor" || failed=1
done
export CONFORMANCE_OUT=build/onnx_1.23/sources CONFORMANCE_PROGRAM=build/onnx_1.23/conformance_compiled
bash tests/conformance/compiled.sh "$data" "$status"
say compiled
"$CONFORMANCE_PROGRAM" --data "$data" || failed=1
exit "$failed"
