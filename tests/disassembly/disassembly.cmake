# SPDX-License-Identifier: MIT
# Reads what the compiler made of kernels.
dnnkit_program(test_disassembly_multiply_adds disassembly/multiply_adds.cpp)
target_compile_options(test_disassembly_multiply_adds PRIVATE -O2)
add_test(NAME ${suite_prefix}disassembly/multiply_adds
         COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/multiply_adds.sh ${CMAKE_OBJDUMP}
                 $<TARGET_FILE:test_disassembly_multiply_adds> ${CMAKE_CROSSCOMPILING_EMULATOR})
set_tests_properties(${suite_prefix}disassembly/multiply_adds PROPERTIES LABELS disassembly SKIP_RETURN_CODE 77)
