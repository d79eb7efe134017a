# SPDX-License-Identifier: MIT
# Builds the consumer project in both ways in which a user gets dnnkit: consumer/find_package and consumer/fetch_content.
# The first takes the generator of models that was installed; the second compiles it, which takes long. consumer/installed
# compiles what takes long with an installed package.
set(flags ${DNNKIT_ROOMY_OPTIONS})
if(DNNKIT_NATIVE)
  string(APPEND flags " -march=native")
endif()
# dnnkit_consumer_test(NAME SCRIPT OPTION...): the CTest consumer/NAME.
function(dnnkit_consumer_test name script)
  dnnkit_scratch(scratch consumer/${name})
  add_test(NAME consumer/${name}
           COMMAND ${CMAKE_COMMAND} ${ARGN} -DDNNKIT_SOURCE=${PROJECT_SOURCE_DIR} -DDNNKIT_BUILD=${PROJECT_BINARY_DIR}
                   -DSCRATCH=${scratch} -DGENERATOR=${CMAKE_GENERATOR} -DCOMPILER=${CMAKE_CXX_COMPILER}
                   "-DFLAGS=${flags}" -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${script})
  set_tests_properties(consumer/${name} PROPERTIES LABELS consumer TIMEOUT 900 COST 1000
                       ENVIRONMENT "${opencl_environment}")  # first: they take longest
endfunction()
dnnkit_consumer_test(fetch_content run.cmake -DWAY=fetch_content)
set_property(TEST consumer/fetch_content APPEND PROPERTY LABELS slow)
if(TARGET dnnkit_tool)  # which is installed, too
  dnnkit_consumer_test(find_package run.cmake -DWAY=find_package)
  dnnkit_consumer_test(installed installed.cmake)
  set_property(TEST consumer/installed APPEND PROPERTY LABELS slow)
endif()
