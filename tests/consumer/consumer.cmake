# SPDX-License-Identifier: MIT
# Builds the consumer project in both ways in which a user gets dnnkit: consumer/find_package and consumer/fetch_content.
# The second takes the generator of models that the first has built.
foreach(way IN ITEMS find_package fetch_content)
  dnnkit_scratch(scratch_${way} consumer/${way})
  set(generator "")
  if(way STREQUAL fetch_content)
    set(generator ${scratch_find_package}/build/dnnkit_onnx_generator)
  endif()
  add_test(NAME consumer/${way}
           COMMAND ${CMAKE_COMMAND} -DWAY=${way} -DDNNKIT_SOURCE=${PROJECT_SOURCE_DIR} -DDNNKIT_BUILD=${PROJECT_BINARY_DIR}
                   -DSCRATCH=${scratch_${way}} -DGENERATOR=${CMAKE_GENERATOR} -DCOMPILER=${CMAKE_CXX_COMPILER}
                   -DGENERATOR_OF_MODELS=${generator} -P ${CMAKE_CURRENT_LIST_DIR}/run.cmake)
  set_tests_properties(consumer/${way} PROPERTIES LABELS consumer TIMEOUT 900 COST 1000)  # first: they take longest
endforeach()
set_tests_properties(consumer/find_package PROPERTIES FIXTURES_SETUP generator_of_models)
set_tests_properties(consumer/fetch_content PROPERTIES FIXTURES_REQUIRED generator_of_models)
