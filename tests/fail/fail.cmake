# SPDX-License-Identifier: MIT
# Programs that must not compile: one CTest a file, fail/<name>; what a file says is in check.cmake.
set(options -std=c++20 -DDNNKIT_NO_OPTIMISATION_WARNING ${DNNKIT_CONSTEXPR_OPTIONS_${CMAKE_CXX_COMPILER_ID}})

# Reading the library's headers takes most of the time. g++ reads a precompiled header where it
# finds one before the header itself.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(header ${PROJECT_SOURCE_DIR}/include/dnnkit/graph.hpp)
  set(precompiled ${CMAKE_CURRENT_BINARY_DIR}/fail/dnnkit/graph.hpp.gch)
  add_custom_command(
    OUTPUT ${precompiled}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/fail/dnnkit
    COMMAND ${CMAKE_CXX_COMPILER} ${options} -w -I${PROJECT_SOURCE_DIR}/include -MD -MF ${precompiled}.d -MT ${precompiled}
            -x c++-header ${header} -o ${precompiled}
    DEPENDS ${header}
    DEPFILE ${precompiled}.d
    COMMENT "Precompiling graph.hpp for the programs that must not compile"
    VERBATIM)
  add_custom_target(test_fail_header ALL DEPENDS ${precompiled})
  list(APPEND options -I${CMAKE_CURRENT_BINARY_DIR}/fail)
endif()

get_target_property(eigen Eigen3::Eigen INTERFACE_INCLUDE_DIRECTORIES)
list(APPEND options -isystem${eigen})

file(GLOB programs CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
foreach(program IN LISTS programs)
  cmake_path(GET program STEM name)
  add_test(NAME fail/${name}
           COMMAND ${CMAKE_COMMAND} -DPROGRAM=${program} -DCOMPILER=${CMAKE_CXX_COMPILER} -DCOMPILER_ID=${CMAKE_CXX_COMPILER_ID}
                   "-DOPTIONS=${options};-I${PROJECT_SOURCE_DIR}/include" -P ${CMAKE_CURRENT_LIST_DIR}/check.cmake)
  set_tests_properties(fail/${name} PROPERTIES LABELS fail TIMEOUT 300)
endforeach()

# What the programs would be without their mistakes, each in a namespace of its own.
set(includes "")
set(twins "")
foreach(program IN LISTS programs)
  cmake_path(GET program STEM name)
  file(STRINGS ${program} of_program REGEX "^#include")
  list(APPEND includes ${of_program})
  string(APPEND twins "namespace ${name} {\n#include \"${program}\"\n}\n")
endforeach()
list(REMOVE_DUPLICATES includes)
list(SORT includes ORDER DESCENDING)  # graph.hpp, of which there is a precompiled header, first
list(JOIN includes "\n" includes)
set(unit ${CMAKE_CURRENT_BINARY_DIR}/fail/passing_twins.cpp)
file(CONFIGURE OUTPUT ${unit} CONTENT "@includes@\n#define PASSING_TWIN\n@twins@" @ONLY)
add_test(NAME fail/passing_twins COMMAND ${CMAKE_CXX_COMPILER} ${options} -I${PROJECT_SOURCE_DIR}/include -fsyntax-only ${unit})
set_tests_properties(fail/passing_twins PROPERTIES LABELS fail TIMEOUT 300)
