// SPDX-License-Identifier: MIT
// Finds the OpenCL device that networks run on.
#include <dnnkit/runtime/cl_device.hpp>

int main() { return dnnkit::cl_device().name().empty() ? 1 : 0; }
