#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dnnkit build --target opencl --feedback: a program for OpenCL with a state that goes from run to run.
#   bash tests/onnx/build_opencl_state.sh TOOL MODELS      (as build.sh)
set -euo pipefail
tool=$1 sum=$2/running_sum.onnx

source "$(dirname "${BASH_SOURCE[0]}")/../support/says.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../support/npy.sh"

export DNNKIT_CACHE=$PWD/opencl_cache POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable POCL_WORK_GROUP_SPECIALIZATION=0
unset DNNKIT_OPENCL_DEVICE
says 0 "in 1 unit" "$tool" build "$sum" -o stateful_on_device --target opencl --flags -O0 --feedback total=before
[ ! -e stateful_on_device.source ] || fail "build leaves what it has compiled: $(ls stateful_on_device.source)"
npy three.npy "3, 2" 1 10 2 20 3 30
says 0 "" ./stateful_on_device --input x=three.npy --output stateful_on_device_runs
holds stateful_on_device_runs/y.npy -1 -10 -3 -30 -6 -60
holds stateful_on_device_runs/total.npy 6 60
