# SPDX-License-Identifier: MIT
# The header generated_models.hpp of tests/source/generate.cpp: models as the generator prints them.
dnnkit_program(write_generated_models source/fixtures/write_models.cpp)
target_link_libraries(write_generated_models PRIVATE dnnkit_onnx)
target_compile_options(write_generated_models PRIVATE -O0)
set(generated ${PROJECT_BINARY_DIR}/tests/generated_models)
file(MAKE_DIRECTORY ${generated})
add_custom_command(OUTPUT ${generated}/generated_models.hpp
                   COMMAND write_generated_models ${generated}/generated_models.hpp DEPENDS write_generated_models
                   VERBATIM)
target_sources(test_source_generate PRIVATE ${generated}/generated_models.hpp)
target_include_directories(test_source_generate PRIVATE ${generated})
