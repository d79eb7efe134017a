# SPDX-License-Identifier: MIT
# The command-line tool, command by command, the programs that it builds, and the table of operators that it prints. Programs
# that take long to compile for what they add have the label `slow`.
if(TARGET dnnkit_tool)
  set(scripts onnx/tool onnx/build onnx/build_opencl onnx/tune)
  set(slow_scripts onnx/build_parts onnx/build_opencl_state onnx/tune_candidates)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND slow_scripts onnx/build_isa)
  endif()
  foreach(name IN LISTS scripts slow_scripts)
    dnnkit_scratch(scratch ${name})
    add_test(NAME ${name} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/${name}.sh $<TARGET_FILE:dnnkit_tool> ${PROJECT_SOURCE_DIR}/tests/consumer
             WORKING_DIRECTORY ${scratch})
  endforeach()
  add_test(NAME onnx/operator_table COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/operator_table.sh $<TARGET_FILE:dnnkit_tool>)
  add_test(NAME onnx/kernel_counts COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/kernel_counts.sh $<TARGET_FILE:dnnkit_tool> ${PROJECT_SOURCE_DIR}/tests/zoo)
  set_tests_properties(${scripts} ${slow_scripts} onnx/operator_table onnx/kernel_counts PROPERTIES LABELS onnx TIMEOUT 600 ENVIRONMENT "CXX=${CMAKE_CXX_COMPILER};CMAKE=${CMAKE_COMMAND}")
  set_property(TEST ${slow_scripts} APPEND PROPERTY LABELS slow)
  set_tests_properties(onnx/build onnx/tune PROPERTIES COST 1000)  # first: they take longest
endif()
