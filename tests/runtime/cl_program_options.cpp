// SPDX-License-Identifier: MIT
// LABELS: opencl no_sanitize
// A whole program around a network on an OpenCL device: --device, --devices, --trace, --on-device.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "dnnkit/runtime/program.hpp"
#include "dnnkit/weights/npy.hpp"
#include "tests/support/opencl_model.hpp"

namespace dk = dnnkit;

namespace {

struct outcome {
  int status;
  std::string out, err;
};
outcome run(std::vector<std::string> words) {
  words.insert(words.begin(), "program");
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  std::ostringstream out, err;
  std::streambuf* const old_out = std::cout.rdbuf(out.rdbuf());
  std::streambuf* const old_err = std::cerr.rdbuf(err.rdbuf());
  const int status = dk::run_program<opencl_model::net>(
      static_cast<int>(argv.size()), argv.data(),
      {"", [](const std::filesystem::path&) { return dk::weight_file(opencl_model::weights()); }});
  std::cout.rdbuf(old_out);
  std::cerr.rdbuf(old_err);
  return {status, out.str(), err.str()};
}
std::vector<float> floats(const std::filesystem::path& file) {
  const dk::npy n(file);
  std::vector<float> v(n.tensor().data.size() / sizeof(float));
  std::memcpy(v.data(), n.tensor().data.data(), n.tensor().data.size());
  return v;
}

}  // namespace

TEST_CASE("devices are listed, and chosen by number and by name; the trace has the kernels") {
  const std::vector<std::string> all = dk::cl_devices();
  const outcome list = run({"--devices"});
  CHECK(list.status == 0);
  CHECK(list.out.find("0  " + all[0] + "\n") == 0);
  CHECK(run({"--help"}).out.find("--device NAME|NUMBER") != std::string::npos);

  opencl_model::data d(5);
  dk::save_npy("x.npy", {"x", dk::f32, {5, 3}, std::as_bytes(std::span(d.x))});
  for (const std::string& device : {std::string("0"), all[0]}) {
    std::filesystem::remove_all("out");
    const outcome o = run({"--input", "x=x.npy", "--output", "out", "--device", device, "--trace=trace.json"});
    CHECK_MESSAGE(o.status == 0, o.err);
    d.y = floats("out/y.npy");
    d.s = floats("out/s.npy");
    CHECK(d.is_right());
    std::ifstream in("trace.json");
    const std::string trace{std::istreambuf_iterator<char>(in), {}};
    CHECK(trace.find("MatMul Relu") != std::string::npos);
    CHECK(trace.find("ReduceSum") != std::string::npos);
  }
  const outcome wrong = run({"--input", "x=x.npy", "--device", "no such device"});
  CHECK(wrong.status == 2);
  CHECK(wrong.err.find("OpenCL: there is no such device, expected one whose name holds 'no such device'") == 0);
}

TEST_CASE("runs that are timed may have inputs and outputs on the device") {
  opencl_model::data d(5);
  dk::save_npy("x.npy", {"x", dk::f32, {5, 3}, std::as_bytes(std::span(d.x))});
  for (const char* const where : {"--on-device", "--time=3"}) {
    const outcome o = run({"--input", "x=x.npy", where, "--time", "5"});
    CHECK_MESSAGE(o.status == 0, o.err);
    CHECK(std::stod(o.out) > 0);
  }
  const outcome wrong = run({"--input", "x=x.npy", "--on-device"});
  CHECK(wrong.status == 2);
  CHECK(wrong.err.find("--on-device: says how --time measures, which is not given") == 0);
  CHECK(run({"--on-device", "--help"}).out.find("--on-device") != std::string::npos);
  CHECK(run({"--on-device", "--devices"}).status == 0);
}
