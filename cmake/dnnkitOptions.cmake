# SPDX-License-Identifier: MIT
# Compiler options: what every user of the headers needs, and what the project's own programs add.

# A model is compiled inside constant expressions, whose default budgets are made for small computations.
# GCC rejects an operations limit above 2^31 - 1.
set(DNNKIT_CONSTEXPR_OPTIONS_GNU
    -fconstexpr-ops-limit=2147483647 -fconstexpr-loop-limit=10000000 -fconstexpr-depth=4096)
set(DNNKIT_CONSTEXPR_OPTIONS_Clang -fconstexpr-steps=2147483647 -fconstexpr-depth=4096 -fbracket-depth=4096)
set(DNNKIT_CONSTEXPR_OPTIONS
    "$<$<CXX_COMPILER_ID:GNU>:${DNNKIT_CONSTEXPR_OPTIONS_GNU}>"
    "$<$<CXX_COMPILER_ID:Clang,AppleClang>:${DNNKIT_CONSTEXPR_OPTIONS_Clang}>")

set(DNNKIT_WARNING_OPTIONS -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
# g++ 12 warns of overlapping copies inside std::string where text is joined with + (GCC bug 105651).
list(APPEND DNNKIT_WARNING_OPTIONS "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>")

# Constant expressions leave much garbage behind, which g++ collects again and again unless it may keep a gigabyte: a tenth
# of the time of a large unit. Behind a collection g++ 12 is slow, too: it looks for holes among what is left. Units that take
# more than two gigabytes, where the first collection is then, take a third less time without one. So it may keep more,
# up to three gigabytes, where each processor's share of the memory is larger. For units of which many are compiled, not for
# what is measured.
cmake_host_system_information(RESULT dnnkit_memory QUERY TOTAL_PHYSICAL_MEMORY)  # in megabytes
cmake_host_system_information(RESULT dnnkit_processors QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR dnnkit_kept "${dnnkit_memory} * 400 / ${dnnkit_processors}")  # in kilobytes; a collection waits for twice as much
if(dnnkit_kept LESS 1000000)
  set(dnnkit_kept 1000000)
elseif(dnnkit_kept GREATER 3000000)
  set(dnnkit_kept 3000000)
endif()
set(DNNKIT_ROOMY_OPTIONS "")
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(DNNKIT_ROOMY_OPTIONS --param=ggc-min-heapsize=${dnnkit_kept})
endif()

# The places in sources that errors of models name, of programs that are installed: without the folder they were compiled in.
set(DNNKIT_INSTALLED_OPTIONS -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)

# dnnkit_program(TARGET SOURCE...): one of the project's own programs, with its warnings and processor flags.
function(dnnkit_program target)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE dnnkit::dnnkit)
  target_compile_options(${target} PRIVATE ${DNNKIT_WARNING_OPTIONS} $<$<BOOL:${DNNKIT_NATIVE}>:-march=native>)
  target_compile_definitions(${target} PRIVATE DNNKIT_ASSETS="${PROJECT_SOURCE_DIR}/examples/assets")
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()

# A cache of OpenCL programs that is not the user's. PoCL, which compiles them for the CPU, takes most of their tests' time when
# it optimises (opencl/kernels 115 s for 72), or makes code for each size of groups (99 s for 81). tests/slow.sh has it do both.
set(opencl_environment DNNKIT_CACHE=${PROJECT_BINARY_DIR}/opencl_cache POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable
                       POCL_WORK_GROUP_SPECIALIZATION=0)

# dnnkit_scratch(VARIABLE NAME): a folder of its own for the files that the test called NAME writes.
function(dnnkit_scratch variable name)
  set(folder ${PROJECT_BINARY_DIR}/scratch/${name})
  file(MAKE_DIRECTORY ${folder})
  set(${variable} ${folder} PARENT_SCOPE)
endfunction()
