# SPDX-License-Identifier: MIT
# The units of tests/cpu/micro/byte_gemm.cpp: one source, compiled for several of x86's instruction sets.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  foreach(unit IN ITEMS sse2 avx2 avx512 avx512_vnni avx512_amx)
    dnnkit_isa_flags(flags ${unit})
    add_library(test_cpu_micro_byte_gemm_${unit} OBJECT cpu/micro/fixtures/byte_products.cpp)
    target_link_libraries(test_cpu_micro_byte_gemm_${unit} PRIVATE dnnkit::dnnkit)
    target_include_directories(test_cpu_micro_byte_gemm_${unit} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_definitions(test_cpu_micro_byte_gemm_${unit} PRIVATE UNIT=of_${unit})
    target_compile_options(test_cpu_micro_byte_gemm_${unit} PRIVATE ${DNNKIT_WARNING_OPTIONS} -O1 ${flags})
    target_link_libraries(test_cpu_micro_byte_gemm PRIVATE test_cpu_micro_byte_gemm_${unit})
  endforeach()
  target_compile_definitions(test_cpu_micro_byte_gemm PRIVATE DNNKIT_UNITS_OF_X86)
endif()
