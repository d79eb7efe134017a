# SPDX-License-Identifier: MIT
# The command-line tool, command by command, and the table of operators that it prints.
if(TARGET dnnkit_tool)
  dnnkit_scratch(scratch onnx/tool)
  add_test(NAME onnx/tool COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/tool.sh $<TARGET_FILE:dnnkit_tool> ${PROJECT_SOURCE_DIR}/tests/consumer
           WORKING_DIRECTORY ${scratch})
  dnnkit_scratch(scratch onnx/tune)
  add_test(NAME onnx/tune COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/tune.sh $<TARGET_FILE:dnnkit_tool> ${PROJECT_SOURCE_DIR}/tests/consumer
           WORKING_DIRECTORY ${scratch})
  add_test(NAME onnx/operator_table COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/operator_table.sh $<TARGET_FILE:dnnkit_tool>)
  add_test(NAME onnx/kernel_counts COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/kernel_counts.sh $<TARGET_FILE:dnnkit_tool> ${PROJECT_SOURCE_DIR}/tests/zoo)
  set_tests_properties(onnx/tool onnx/tune onnx/operator_table onnx/kernel_counts PROPERTIES LABELS onnx TIMEOUT 600 ENVIRONMENT "CXX=${CMAKE_CXX_COMPILER};CMAKE=${CMAKE_COMMAND}")
  set_tests_properties(onnx/tool PROPERTIES COST 1000)  # first: it takes longest
endif()
