# SPDX-License-Identifier: MIT
# What README.md and docs/ say is true as far as a program can tell: the paths they name exist, and their C++ compiles
# (extract.awk says how blocks become a unit, operator_calls.awk how the tables of operators do).
add_test(NAME docs/paths COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/paths.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(docs/paths PROPERTIES LABELS docs)

# dnnkit_docs_test(DOCUMENT check|calls|run), with the options of fail/fail.cmake, whose precompiled header it reads where there is one.
function(dnnkit_docs_test document what)
  cmake_path(GET document STEM name)
  add_test(NAME docs/${name}
           COMMAND bash ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/compile.sh ${what} ${PROJECT_SOURCE_DIR} ${document}
                   ${CMAKE_CURRENT_BINARY_DIR}/docs/${name} ${CMAKE_CXX_COMPILER} ${options}
                   -I${PROJECT_SOURCE_DIR}/include -O0 -Wall -Wextra -Werror)
  set_tests_properties(docs/${name} PROPERTIES LABELS docs TIMEOUT 300)
endfunction()
dnnkit_docs_test(README.md check)
dnnkit_docs_test(docs/cookbook.md check)
dnnkit_docs_test(docs/fusion.md check)
dnnkit_docs_test(docs/layouts.md check)
dnnkit_docs_test(docs/opencl.md check)
dnnkit_docs_test(docs/processors.md check)
dnnkit_docs_test(docs/rewriting.md check)
dnnkit_docs_test(docs/tuning.md check)
dnnkit_docs_test(docs/weights.md check)
dnnkit_docs_test(docs/operators.md calls)
dnnkit_docs_test(docs/add-an-operator.md run)
