# SPDX-License-Identifier: MIT
# Every header compiles alone, twice in one file, without warnings and without run-time type information.
file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR}/include CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/dnnkit/*.hpp)
set(units "")
foreach(header IN LISTS headers)
  string(REGEX REPLACE "\\.hpp$" ".cpp" unit ${CMAKE_CURRENT_BINARY_DIR}/headers/${header})
  file(CONFIGURE OUTPUT ${unit} CONTENT "#include <@header@>\n#include <@header@>\n" @ONLY)
  list(APPEND units ${unit})
endforeach()
if(units)
  add_library(test_headers OBJECT ${units})
  target_link_libraries(test_headers PRIVATE dnnkit::dnnkit)
  target_compile_options(test_headers PRIVATE ${DNNKIT_WARNING_OPTIONS} $<$<BOOL:${DNNKIT_NATIVE}>:-march=native> -fno-rtti -O0)
endif()
