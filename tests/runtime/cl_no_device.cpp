// SPDX-License-Identifier: MIT
// LABELS: opencl no_sanitize
// A driver that has no device.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "dnnkit/runtime/cl_device.hpp"
#include "tests/support/error_of.hpp"

namespace dk = dnnkit;

TEST_CASE("a platform without devices is as none") {
  ::setenv("POCL_DEVICES", "", 1);  // before PoCL is asked for the first time
  ::unsetenv("DNNKIT_OPENCL_DEVICE");
  cl_uint platforms = 0;
  CHECK(clGetPlatformIDs(0, nullptr, &platforms) == CL_SUCCESS);
  CHECK(platforms > 0);
  if (!dk::cl_devices().empty()) return;  // of another driver
  CHECK(error_of([] { return dk::cl_device().name(); }) ==
        "OpenCL: there is no such device, expected any device, found none; a driver such as pocl-opencl-icd has to be "
        "installed");
}
