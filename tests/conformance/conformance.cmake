# SPDX-License-Identifier: MIT
# The program `conformance`, and a CTest for each executor where ONNX's test data is installed (Debian: libonnx-testdata).
dnnkit_program(conformance conformance/conformance.cpp)
target_link_libraries(conformance PRIVATE dnnkit_onnx cxxopts::cxxopts test_opencl)
target_compile_options(conformance PRIVATE $<$<CONFIG:Release>:-Og>)
target_compile_definitions(conformance PRIVATE DNNKIT_CONFORMANCE_STATUS="${CMAKE_CURRENT_LIST_DIR}/status.txt")

set(DNNKIT_ONNX_TESTS /usr/lib/python3/dist-packages/onnx/backend/test/data CACHE PATH "ONNX's backend tests")
if(IS_DIRECTORY ${DNNKIT_ONNX_TESTS})
  foreach(executor IN ITEMS reference passes plan)
    add_test(NAME conformance/${executor} COMMAND conformance --data ${DNNKIT_ONNX_TESTS} --executor ${executor})
    set_tests_properties(conformance/${executor} PROPERTIES LABELS conformance TIMEOUT 600)
  endforeach()
  # Most of the time of a device's compiler: a quarter of an hour where PoCL compiles for two processors.
  add_test(NAME conformance/opencl COMMAND conformance --data ${DNNKIT_ONNX_TESTS} --executor opencl)
  set_tests_properties(conformance/opencl PROPERTIES LABELS slow TIMEOUT 3600 ENVIRONMENT "${opencl_environment}")
else()
  set_target_properties(conformance PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

# The source of conformance_compiled; compiled.sh compiles what it writes, which takes too long for every build. A part of
# the tests is compiled and run as a CTest.
dnnkit_program(conformance_sources conformance/write_sources.cpp)
target_link_libraries(conformance_sources PRIVATE dnnkit_onnx cxxopts::cxxopts)
target_compile_options(conformance_sources PRIVATE $<$<CONFIG:Release>:-O0>)
target_compile_definitions(conformance_sources PRIVATE DNNKIT_CONFORMANCE_STATUS="${CMAKE_CURRENT_LIST_DIR}/status.txt")
if(IS_DIRECTORY ${DNNKIT_ONNX_TESTS})
  set(generated ${PROJECT_BINARY_DIR}/tests/conformance)
  set(representatives "^test_(add|abs|concat_3d_axis_1|gemm_all_attributes|reduce_mean_keepdims_example|softmax_axis_1|transpose_default|conv_with_strides_padding|averagepool_2d_pads|gather_1|where_example|cast_FLOAT_to_DOUBLE|layer_normalization_2d_axis1|slice)$")
  add_custom_command(OUTPUT ${generated}/part_000.cpp
                     COMMAND conformance_sources --data ${DNNKIT_ONNX_TESTS} --out ${generated} --prefix part --only
                             ${representatives}
                     DEPENDS conformance_sources VERBATIM)
  dnnkit_program(conformance_compiled_part conformance/compiled.cpp ${generated}/part_000.cpp)
  target_link_libraries(conformance_compiled_part PRIVATE dnnkit_evaluator cxxopts::cxxopts)
  target_compile_options(conformance_compiled_part PRIVATE $<$<CONFIG:Release>:-O1>)
  target_compile_definitions(conformance_compiled_part
                             PRIVATE DNNKIT_CONFORMANCE_STATUS="${CMAKE_CURRENT_LIST_DIR}/status.txt"
                                     DNNKIT_CONFORMANCE_WEIGHTS="${generated}")
  add_test(NAME conformance/compiled
           COMMAND conformance_compiled_part --data ${DNNKIT_ONNX_TESTS} --only ${representatives})
  set_tests_properties(conformance/compiled PROPERTIES LABELS conformance TIMEOUT 600)
else()
  set_target_properties(conformance_sources PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
