# SPDX-License-Identifier: MIT
# The libFuzzer targets: tests/fuzz/<name>.cpp is the program fuzz_<name>, under the address and undefined-behaviour sanitizers.
# A line `// SUPPORT: one two` in it adds tests/support/one.cpp and two.cpp.
# Where they are not built, the target fuzz_compiles sees that they would compile.
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
if(NOT DNNKIT_FUZZ)
  if(DNNKIT_TEST_SUITE STREQUAL all)
    add_custom_target(fuzz_compiles)
    foreach(source IN LISTS fuzz_sources)
      cmake_path(GET source STEM name)
      add_custom_target(fuzz_${name}_compiles
                        COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -w -DNDEBUG -DDNNKIT_NO_OPTIMISATION_WARNING
                                ${DNNKIT_CONSTEXPR_OPTIONS_${CMAKE_CXX_COMPILER_ID}} -I${PROJECT_SOURCE_DIR}
                                -I${PROJECT_SOURCE_DIR}/include ${source}
                        VERBATIM)
      add_dependencies(fuzz_compiles fuzz_${name}_compiles)
    endforeach()
  endif()
  return()
endif()
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  message(FATAL_ERROR "DNNKIT_FUZZ needs clang: libFuzzer is part of it")
endif()
add_custom_target(fuzz)
foreach(source IN LISTS fuzz_sources)
  cmake_path(GET source STEM name)
  file(STRINGS ${source} support REGEX "^// SUPPORT:")
  string(REGEX REPLACE "^// SUPPORT: *" "" support "${support}")
  separate_arguments(support)
  list(TRANSFORM support PREPEND ${CMAKE_CURRENT_LIST_DIR}/../support/)
  list(TRANSFORM support APPEND .cpp)
  dnnkit_program(fuzz_${name} ${source} ${support})
  set(sanitizers -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
  target_compile_options(fuzz_${name} PRIVATE -O1 -g1 ${sanitizers})
  target_link_options(fuzz_${name} PRIVATE ${sanitizers})
  add_dependencies(fuzz fuzz_${name})
endforeach()
