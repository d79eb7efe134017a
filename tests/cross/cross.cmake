# SPDX-License-Identifier: MIT
# Tests on another processor than the compiler's, run by CMAKE_CROSSCOMPILING_EMULATOR: the micro-kernels, networks with
# results that others computed, and one program with versions of a network. They need doctest and nothing else. Those that
# take long to compile have the label `slow`, and are built with the target slow_tests.
set(slow attention conv depthwise wide_winograd winograd)
file(GLOB sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS cpu/micro/*.cpp)
list(FILTER sources EXCLUDE REGEX "all_floats")  # minutes on a processor, hours under an emulator
add_custom_target(slow_tests)
foreach(source IN LISTS sources ITEMS cross/super_resolution.cpp runtime/versions.cpp)
  string(REGEX REPLACE "\\.cpp$" "" name ${source})
  string(REPLACE / _ target test_${name})
  dnnkit_program(${target} ${source})
  target_link_libraries(${target} PRIVATE doctest_implementation)
  target_compile_options(${target} PRIVATE -O2)
  add_test(NAME cross/${name} COMMAND ${target})
  set_tests_properties(cross/${name} PROPERTIES LABELS cross TIMEOUT 600)
  cmake_path(GET source STEM stem)
  file(STRINGS ${source} labels REGEX "^// LABELS:.* slow")
  if(stem IN_LIST slow OR labels)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    add_dependencies(slow_tests ${target})
    set_property(TEST cross/${name} APPEND PROPERTY LABELS slow)
  endif()
endforeach()
include(runtime/versions.cmake)
include(disassembly/disassembly.cmake)
