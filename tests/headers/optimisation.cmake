# SPDX-License-Identifier: MIT
# cpu/optimisation.hpp says its one sentence where a unit is compiled without optimisation, and nowhere else.
add_test(NAME headers/optimisation
         COMMAND ${CMAKE_COMMAND} -DCOMPILER=${CMAKE_CXX_COMPILER} -DINCLUDE=${PROJECT_SOURCE_DIR}/include
                 -DSCRATCH=${CMAKE_CURRENT_BINARY_DIR}/headers -P ${CMAKE_CURRENT_LIST_DIR}/check_optimisation.cmake)
