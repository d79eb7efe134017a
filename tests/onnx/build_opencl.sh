#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dnnkit build --target opencl: a program of a small model, whose outputs are those of ONNX Runtime, and the texts of kernels.
# A program with a state: build_opencl_state.sh.
#   bash tests/onnx/build_opencl.sh TOOL MODELS      (as build.sh)
set -euo pipefail
tool=$1 small=$2/small.onnx

source "$(dirname "${BASH_SOURCE[0]}")/../support/says.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../support/npy.sh"

input_of_small

# A program for OpenCL: the same results, on the device that it is told.
export DNNKIT_CACHE=$PWD/opencl_cache POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable POCL_WORK_GROUP_SPECIALIZATION=0
unset DNNKIT_OPENCL_DEVICE
for wrong in cuda opencl_small ""; do
  says 2 "--target: is no target of programs,expected cpu, opencl or opencl_images${wrong:+,found $wrong}" "$tool" build "$small" -o refused_target --target "$wrong"
done
for option in --isa=avx2 --kernel-parts=2 --most-scalar=5; do
  says 2 "${option%=*}: is for the target cpu,found --target opencl" "$tool" build "$small" -o refused_target --target opencl $option
done
# the input has 128 bytes, the output 8, weights 260 and what is between kernels 192 and 12, which begin at multiples of 64
says 0 "in bytes: 256 in buffers and 0 in images between kernels; 260 of weights,136 of inputs and outputs,// kernel 1 'conv',//   b0: f32 [1" "$tool" explain --texts opencl "$small"
grep -q "^//   b0: f32 \[1, 2, 4, 4\] 'x'$" said.txt || fail "what an operand is: $(cat said.txt)"
grep -q '^  global float\*p0=b0+o0;$' said.txt && grep -q '^}$' said.txt || fail "kernels are not indented: $(cat said.txt)"
for option in --isa=avx2 --target=cpu; do says 2 "${option%=*}: says what to plan for,which --texts does" "$tool" explain --texts opencl $option "$small"; done
says 0 "kernel void k0(,MatMul" "$tool" explain --texts opencl "$2/../zoo/tinybert.onnx"
! grep -q 'kernel.*image2d_t' said.txt || fail "values are in images that nobody asked for"
says 0 "kernel void k0(,write_only image2d_t b,dnnkit_write_texel(b" "$tool" explain --texts opencl_images "$2/../zoo/tinybert.onnx"
says 2 "--texts: is no target whose kernels are texts,opencl or opencl_images,cpu" "$tool" explain --texts cpu "$small"
says 2 "--texts: is a part of the text" "$tool" explain --texts opencl --json "$small"
says 1 "the target opencl has no kernels for this model,LSTM of kernel 'lstm': there is no OpenCL kernel" env CXX=no-such-compiler "$tool" build "$2/../../examples/assets/speech.onnx" -o refused_target --target opencl
[ ! -e refused_target.source ] || fail "sources were written of what is no program for OpenCL"
says 0 "in 1 unit" "$tool" build "$small" -o on_device --target opencl --flags -O0 --keep-source
grep -q "using target = dnnkit::targets::opencl;" on_device.source/small.hpp || fail "the program is not for OpenCL"
says 0 "--device NAME|NUMBER,--devices,f32 [1, 2, 4, 4]" ./on_device --help
! grep -q -- --threads said.txt || fail "a program for OpenCL offers threads: $(cat said.txt)"
for option in $(grep -o -- "^  --[a-z]*" said.txt); do says 0 "$option" "$tool" build --help; done
says 2 "--threads: is no option of this program" ./on_device --input x=x.npy --threads 2
says 2 "--spin: is no option of this program" ./on_device --input x=x.npy --spin 200
says 0 "0  " ./on_device --devices
device=$(sed -n 's/^0  //p' said.txt)
for choice in 0 "$device"; do
  rm -rf by_device trace.json
  says 0 "" ./on_device --input x=x.npy --output by_device --device "$choice" --time 3 --trace trace.json
  grep -qE '^[0-9.]+$' said.txt || fail "the time is missing: $(cat said.txt)"
  grep -q Conv trace.json || fail "the trace has no kernel: $(cat trace.json)"
  holds by_device/y.npy $wanted
done
[ -n "$(ls opencl_cache)" ] || fail "the built kernels are not kept"
says 2 "OpenCL: there is no such device,expected number 99,found 0 '${device%%,*}" ./on_device --input x=x.npy --device 99
says 2 "expected one whose name holds 'no such device',found 0 '${device%%,*}" ./on_device --input x=x.npy --device "no such device"
mkdir -p no_drivers
for arguments in --devices "--input x=x.npy"; do
  says 2 "OpenCL: there is no such device,expected any device,found none; a driver" env OCL_ICD_VENDORS="$PWD/no_drivers" ./on_device $arguments
done
