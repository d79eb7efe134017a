# SPDX-License-Identifier: MIT
# What takes long to compile with an installed package, for what it adds to run.cmake: a program that the installed tool
# builds, and one of the consumer project whose kernels are for several instruction sets.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)

install_dnnkit()
step(${SCRATCH}/installed/bin/dnnkit build ${CMAKE_CURRENT_LIST_DIR}/small.onnx -o ${SCRATCH}/program --flags -O0)
step(${SCRATCH}/program --help)

configure(${SCRATCH}/build -DCMAKE_PREFIX_PATH=${SCRATCH}/installed)
step(${CMAKE_COMMAND} --build ${SCRATCH}/build --target small_versions)
step(${CMAKE_COMMAND} -E env DNNKIT_ISA=sse2 ${SCRATCH}/build/small_versions)
execute_process(COMMAND ${CMAKE_COMMAND} -E env DNNKIT_ISA=avx512 ${SCRATCH}/build/small_versions ERROR_VARIABLE said)
expect("${said}" "DNNKIT_ISA: is no instruction set that the program can run with")
