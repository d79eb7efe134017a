# SPDX-License-Identifier: MIT
# Builds the consumer project in both ways in which a user gets dnnkit: consumer/find_package and consumer/fetch_content.
foreach(way IN ITEMS find_package fetch_content)
  dnnkit_scratch(scratch consumer/${way})
  add_test(NAME consumer/${way}
           COMMAND ${CMAKE_COMMAND} -DWAY=${way} -DDNNKIT_SOURCE=${PROJECT_SOURCE_DIR} -DDNNKIT_BUILD=${PROJECT_BINARY_DIR}
                   -DSCRATCH=${scratch} -DGENERATOR=${CMAKE_GENERATOR} -DCOMPILER=${CMAKE_CXX_COMPILER}
                   -P ${CMAKE_CURRENT_LIST_DIR}/run.cmake)
  set_tests_properties(consumer/${way} PROPERTIES LABELS consumer TIMEOUT 900)
endforeach()
