# SPDX-License-Identifier: MIT
# Compiles cpu/optimisation.hpp, which INCLUDE holds, with COMPILER under several options.
cmake_minimum_required(VERSION 3.25)
file(WRITE ${SCRATCH}/optimisation_twice.cpp
     "#include <dnnkit/cpu/optimisation.hpp>\n#include <dnnkit/cpu/optimisation.hpp>\n")

# expect(COUNT OPTION...): with these options the sentence is said COUNT times, and the unit compiles.
function(expect count)
  execute_process(COMMAND ${COMPILER} -std=c++20 -Wall -Wextra -Werror -I${INCLUDE} -fsyntax-only ${ARGN} optimisation_twice.cpp
                  WORKING_DIRECTORY ${SCRATCH} RESULT_VARIABLE status ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "with ${ARGN} it does not compile:\n${output}")
  endif()
  string(REGEX MATCHALL "(message|warning): [^\n]*run 60 to 120 times slower than with -O3" said "${output}")
  list(LENGTH said times)
  if(NOT times EQUAL count)
    message(FATAL_ERROR "with the options '${ARGN}' the sentence is said ${times} times, expected ${count}:\n${output}")
  endif()
endfunction()
expect(1)
expect(1 -O0)
expect(0 -O1)
expect(0 -DDNNKIT_NO_OPTIMISATION_WARNING)
expect(0 -fsanitize=address)
expect(0 -fsanitize=thread)
