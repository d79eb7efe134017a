# SPDX-License-Identifier: MIT
# Every header compiles by itself, without warnings.
#
# A header that some test includes before anything else, in a unit of its own, is shown to do so by that test. Every other one
# gets a unit of its own (all but a few where tests are grouped: groups.cmake), and one unit includes all of them together,
# twice and without run-time type information. Nobody waits for these units but who asks for the target test_headers.
file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR}/include CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/dnnkit/*.hpp)
# Those of one instruction set are compiled with its flags: by cpu/micro/isa, and for NEON by tests/cross/run.sh.
list(FILTER headers EXCLUDE REGEX "cpu/micro/isa_(sse2|avx2|avx512|avx512_vnni|avx512_amx|neon)\\.hpp$")
set(includes_of_all ${headers})
foreach(source IN LISTS sources_alone)  # of tests/CMakeLists.txt
  file(STRINGS ${PROJECT_SOURCE_DIR}/tests/${source} includes REGEX "^#include")
  list(GET includes 0 first)
  if(first MATCHES "[<\"](dnnkit/.*)[>\"]")
    list(REMOVE_ITEM headers ${CMAKE_MATCH_1})
  endif()
endforeach()

set(units "")
foreach(header IN LISTS headers)
  string(REGEX REPLACE "\\.hpp$" ".cpp" unit ${CMAKE_CURRENT_BINARY_DIR}/headers/${header})
  file(CONFIGURE OUTPUT ${unit} CONTENT "#include <@header@>\n" @ONLY)
  list(APPEND units ${unit})
endforeach()

list(TRANSFORM includes_of_all PREPEND "#include <")
list(TRANSFORM includes_of_all APPEND ">")
list(JOIN includes_of_all "\n" includes_of_all)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/headers/all.cpp CONTENT "@includes_of_all@\n@includes_of_all@\n" @ONLY)

add_library(test_headers OBJECT EXCLUDE_FROM_ALL ${units} ${CMAKE_CURRENT_BINARY_DIR}/headers/all.cpp)
target_link_libraries(test_headers PRIVATE dnnkit::dnnkit dnnkit::opencl Eigen3::Eigen)
target_compile_options(test_headers PRIVATE ${DNNKIT_WARNING_OPTIONS} $<$<BOOL:${DNNKIT_NATIVE}>:-march=native> -fno-rtti -O0)

# Users compile the library as their own, with warnings as errors, and see what only an optimising compiler warns of.
add_test(NAME headers/warnings
         COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -O3 -Wall -Wextra -Werror ${DNNKIT_ROOMY_OPTIONS} -I${PROJECT_SOURCE_DIR}/include -c
                 ${CMAKE_CURRENT_LIST_DIR}/fixtures/program.cpp -o ${CMAKE_CURRENT_BINARY_DIR}/headers/program.o)
set_tests_properties(headers/warnings PROPERTIES LABELS headers TIMEOUT 300)

add_test(NAME headers/layers COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/headers/layers.sh ${PROJECT_SOURCE_DIR}/include)
set_tests_properties(headers/layers PROPERTIES LABELS headers)

dnnkit_scratch(scratch headers/inspect_without_passes)
add_test(NAME headers/inspect_without_passes
         COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/headers/inspect_without_passes.sh ${PROJECT_SOURCE_DIR}/include
                 ${CMAKE_CXX_COMPILER} -std=c++20 -Wall -Wextra -Werror WORKING_DIRECTORY ${scratch})
set_tests_properties(headers/inspect_without_passes PROPERTIES LABELS headers)
