// SPDX-License-Identifier: MIT
// LABELS: opencl no_sanitize
// Devices by name and by number; one context for all that run on one.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/runtime/cl_device.hpp"

#include <doctest/doctest.h>

#include <cctype>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/error_of.hpp"

namespace dk = dnnkit;

TEST_CASE("devices are listed, and found by number and by what their names hold") {
  const std::vector<std::string> all = dk::cl_devices();
  REQUIRE(!all.empty());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(dk::cl_device(std::to_string(i)).name() == all[i]);
    const std::string found = dk::cl_device(all[i]).name();
    CHECK(found.find(all[i]) != std::string::npos);
    std::string large = all[i];
    for (char& c : large) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    CHECK(dk::cl_device(large).name() == found);
  }
  const std::string number = std::to_string(all.size());
  CHECK(error_of([&] {
          return dk::cl_device(number).name();
        }).find("OpenCL: there is no such device, expected number " + number + ", found 0 '" + all[0] + "'") == 0);
  CHECK(error_of([&] { return dk::cl_device("99999999999999999999999").name(); }).find("there is no such device") !=
        std::string::npos);
  const std::string wrong = error_of([] { return dk::cl_device("no such device").name(); });
  CHECK(wrong.find("OpenCL: there is no such device, expected one whose name holds 'no such device', found 0 '") == 0);
  for (const std::string& name : all) CHECK(wrong.find(name) != std::string::npos);
}

TEST_CASE("the environment's device is used where none is named") {
  ::setenv("DNNKIT_OPENCL_DEVICE", "no such device", 1);
  CHECK(error_of([] { return dk::cl_device().name(); })
            .find("OpenCL, DNNKIT_OPENCL_DEVICE: there is no such device, expected one whose name holds 'no such "
                  "device'") == 0);
  ::setenv("DNNKIT_OPENCL_DEVICE", "0", 1);
  CHECK(dk::cl_device().name() == dk::cl_devices()[0]);
  ::unsetenv("DNNKIT_OPENCL_DEVICE");
  CHECK(!dk::cl_device().name().empty());
}

TEST_CASE("one context a device") {
  const dk::cl_device a("0"), b("0"), pinned("0", dk::cl_copies::pinned);
  CHECK(a.context() == b.context());
  CHECK(a.context() == pinned.context());
  CHECK(pinned.pins_copies());
  CHECK(!dk::cl_device("0", dk::cl_copies::direct).pins_copies());
}

TEST_CASE("a buffer that is too large says for what, for which device, and how large one may be") {
  const dk::cl_device d("0");
  const std::string wrong = error_of([&] { return d.make_buffer(std::size_t{1} << 50, "input 'x'") != nullptr; });
  CHECK(wrong.find("input 'x' on OpenCL device '" + d.name() +
                   "': too large for a buffer of the device, expected at most ") == 0);
  CHECK(wrong.find(" bytes, found 1125899906842624") != std::string::npos);
}
