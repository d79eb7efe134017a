# SPDX-License-Identifier: MIT
# Configures, builds and runs the consumer project from nothing, ONNX models included: WAY is find_package (after an
# install) or fetch_content. A GENERATOR_OF_MODELS, if given, is not built again.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${SCRATCH})

function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(WAY STREQUAL find_package)
  step(${CMAKE_COMMAND} --install ${DNNKIT_BUILD} --prefix ${SCRATCH}/prefix)
  set(found_by -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix)
else()
  set(found_by -DDNNKIT_CHECKOUT=${DNNKIT_SOURCE})
endif()
step(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${SCRATCH}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
     -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DDNNKIT_ONNX_GENERATOR=${GENERATOR_OF_MODELS} ${found_by})
step(${CMAKE_COMMAND} --build ${SCRATCH}/build)
step(${SCRATCH}/build/consumer)
step(${SCRATCH}/build/small_mapped)
file(RENAME ${SCRATCH}/build/dnnkit_onnx ${SCRATCH}/build/moved)  # nothing embedded is looked for
step(${SCRATCH}/build/small_embedded)
file(RENAME ${SCRATCH}/build/moved ${SCRATCH}/build/dnnkit_onnx)

# What is not supported is listed, all of it, and nothing is compiled.
execute_process(COMMAND ${CMAKE_COMMAND} --build ${SCRATCH}/build --target unsupported RESULT_VARIABLE failed
                OUTPUT_VARIABLE said ERROR_VARIABLE said_too)
if(NOT failed)
  message(FATAL_ERROR "a model with unsupported operators was built")
endif()
foreach(node IN ITEMS "Frobnicate 'first'" "Wobble 'third'")
  string(FIND "${said}${said_too}" "${node}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${node} is not named:\n${said}${said_too}")
  endif()
endforeach()
string(FIND "${said}${said_too}" "small.cpp" at)
if(NOT at EQUAL -1)
  message(FATAL_ERROR "the program was compiled before its model was checked:\n${said}${said_too}")
endif()
