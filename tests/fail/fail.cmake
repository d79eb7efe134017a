# SPDX-License-Identifier: MIT
# Programs that must not compile: one CTest a file, fail/<name>; what a file says is in check.cmake.
file(GLOB programs CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
foreach(program IN LISTS programs)
  cmake_path(GET program STEM name)
  add_test(NAME fail/${name}
           COMMAND ${CMAKE_COMMAND} -DPROGRAM=${program} -DCOMPILER=${CMAKE_CXX_COMPILER} -DCOMPILER_ID=${CMAKE_CXX_COMPILER_ID}
                   "-DOPTIONS=-std=c++20;-I${PROJECT_SOURCE_DIR}/include;${DNNKIT_CONSTEXPR_OPTIONS_${CMAKE_CXX_COMPILER_ID}}"
                   -P ${CMAKE_CURRENT_LIST_DIR}/check.cmake)
  set_tests_properties(fail/${name} PROPERTIES LABELS fail TIMEOUT 300)
endforeach()
