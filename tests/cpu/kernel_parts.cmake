# SPDX-License-Identifier: MIT
# The units of tests/cpu/kernel_parts.cpp.
if(TARGET test_cpu_kernel_parts)
  dnnkit_kernel_units(test_cpu_kernel_parts model_in_parts cpu/fixtures/model_in_parts.hpp 3)
  dnnkit_kernel_units(test_cpu_kernel_parts model_shared_with_session cpu/fixtures/model_in_parts.hpp 2)
  target_sources(test_cpu_kernel_parts PRIVATE cpu/fixtures/kernels_alone.cpp)
endif()
