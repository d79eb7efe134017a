# SPDX-License-Identifier: MIT
# Configures, builds and runs the consumer project from nothing: WAY is find_package (after an install) or fetch_content.
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
     -DCMAKE_BUILD_TYPE=Release ${found_by})
step(${CMAKE_COMMAND} --build ${SCRATCH}/build)
step(${SCRATCH}/build/consumer)
