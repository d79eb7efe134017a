// SPDX-License-Identifier: MIT
// LABELS: opencl no_sanitize
// A system on which OpenCL has no driver.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "dnnkit/runtime/cl_device.hpp"
#include "tests/support/error_of.hpp"

namespace dk = dnnkit;

TEST_CASE("without a driver there is no device, and the error says what to do") {
  const std::filesystem::path empty = std::filesystem::absolute("no_drivers");
  std::filesystem::create_directories(empty);
  ::setenv("OCL_ICD_VENDORS", empty.c_str(), 1);  // before OpenCL is asked for the first time
  ::unsetenv("DNNKIT_OPENCL_DEVICE");
  const std::string expected =
      "OpenCL: there is no such device, expected any device, found none; a driver such as pocl-opencl-icd has to be "
      "installed";
  CHECK(error_of([] { return dk::cl_device().name(); }) == expected);
  CHECK(error_of([] { return dk::cl_device("0").name(); }).find("expected number 0, found none;") != std::string::npos);
  CHECK(dk::cl_devices().empty());
  CHECK(error_of([] { return dk::cl_device().name(); }) == expected);  // again
}
