# SPDX-License-Identifier: MIT
# The program `conformance`, and a CTest for each executor where ONNX's test data is installed (Debian: libonnx-testdata).
dnnkit_program(conformance conformance/conformance.cpp)
target_link_libraries(conformance PRIVATE cxxopts::cxxopts)
target_compile_definitions(conformance PRIVATE DNNKIT_CONFORMANCE_STATUS="${CMAKE_CURRENT_LIST_DIR}/status.txt")

set(DNNKIT_ONNX_TESTS /usr/lib/python3/dist-packages/onnx/backend/test/data CACHE PATH "ONNX's backend tests")
if(IS_DIRECTORY ${DNNKIT_ONNX_TESTS})
  foreach(executor IN ITEMS reference passes)
    add_test(NAME conformance/${executor} COMMAND conformance --data ${DNNKIT_ONNX_TESTS} --executor ${executor})
    set_tests_properties(conformance/${executor} PROPERTIES LABELS conformance TIMEOUT 600)
  endforeach()
endif()
