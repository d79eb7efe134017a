# SPDX-License-Identifier: MIT
# What README.md and docs/ say is true as far as a program can tell: the paths they name exist.
add_test(NAME docs/paths COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/paths.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(docs/paths PROPERTIES LABELS docs)
