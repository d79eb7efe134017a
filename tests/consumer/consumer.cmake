# SPDX-License-Identifier: MIT
# Builds the consumer project in both ways in which a user gets dnnkit: consumer/find_package and consumer/fetch_content.
# The first takes the generator of models that was installed; the second compiles it, which takes long.
set(flags ${DNNKIT_ROOMY_OPTIONS})
if(DNNKIT_NATIVE)
  string(APPEND flags " -march=native")
endif()
foreach(way IN ITEMS find_package fetch_content)
  if(way STREQUAL find_package AND NOT TARGET dnnkit_tool)  # which is installed, too
    continue()
  endif()
  dnnkit_scratch(scratch_${way} consumer/${way})
  add_test(NAME consumer/${way}
           COMMAND ${CMAKE_COMMAND} -DWAY=${way} -DDNNKIT_SOURCE=${PROJECT_SOURCE_DIR} -DDNNKIT_BUILD=${PROJECT_BINARY_DIR}
                   -DSCRATCH=${scratch_${way}} -DGENERATOR=${CMAKE_GENERATOR} -DCOMPILER=${CMAKE_CXX_COMPILER}
                   "-DFLAGS=${flags}" -P ${CMAKE_CURRENT_LIST_DIR}/run.cmake)
  set_tests_properties(consumer/${way} PROPERTIES LABELS consumer TIMEOUT 900 COST 1000
                       ENVIRONMENT "${opencl_environment}")  # first: they take longest
endforeach()
set_property(TEST consumer/fetch_content APPEND PROPERTY LABELS slow)
