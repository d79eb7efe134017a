// SPDX-License-Identifier: MIT
// LABELS: opencl no_sanitize alone
// Programs are built once: sessions share them, and the cache on disk keeps them. A cache that is damaged is written
// anew, and one that cannot be written is done without.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/runtime/cl_program.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/error_of.hpp"
#include "tests/support/opencl_model.hpp"

namespace dk = dnnkit;
using opencl_model::net;

namespace {

int from_source = 0, from_binary = 0;  // programs made

template <class F> F* next(const char* name, F*) { return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name)); }

}  // namespace

// Before the library's.
extern "C" cl_program clCreateProgramWithSource(cl_context c, cl_uint n, const char** text, const size_t* sizes,
                                                cl_int* status) {
  ++from_source;
  return next("clCreateProgramWithSource", &clCreateProgramWithSource)(c, n, text, sizes, status);
}
extern "C" cl_program clCreateProgramWithBinary(cl_context c, cl_uint n, const cl_device_id* devices,
                                                const size_t* sizes, const unsigned char** bytes, cl_int* taken,
                                                cl_int* status) {
  ++from_binary;
  return next("clCreateProgramWithBinary", &clCreateProgramWithBinary)(c, n, devices, sizes, bytes, taken, status);
}

namespace {

const std::filesystem::path cache = std::filesystem::absolute("cl_program_cache");

// Packs weights, runs, and says whether all was right.
bool runs() {
  opencl_model::session s(opencl_model::weights());
  opencl_model::data d(5);
  s.bind({{"N", 5}});
  s.run(d.x, d.y, d.s);
  return d.is_right();
}
struct counts {
  int source, binary;
  friend bool operator==(const counts&, const counts&) = default;
};
counts counts_of(auto action) {
  const int source = from_source, binary = from_binary;
  CHECK(action());
  return {from_source - source, from_binary - binary};
}
std::filesystem::path only_file() {
  REQUIRE(std::distance(std::filesystem::directory_iterator(cache), {}) == 1);
  return std::filesystem::directory_iterator(cache)->path();
}
std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void start_anew() {
  std::filesystem::remove_all(cache);
  ::setenv("DNNKIT_CACHE", cache.c_str(), 1);
}

}  // namespace

TEST_CASE("built once, then taken from disk; by sessions at the same time from each other") {
  start_anew();
  CHECK(counts_of(runs) == counts{1, 0});
  CHECK(counts_of(runs) == counts{0, 1});
  const dk::packed_weights<net> first(opencl_model::weights());
  CHECK(counts_of(runs) == counts{0, 0});
  CHECK(dk::packed_weights<net>(opencl_model::weights()).tables()->program() == first.tables()->program());
}

TEST_CASE("other texts are other programs") {
  start_anew();
  const dk::cl_device device;
  std::vector<dk::opencl::kernel_text> texts(dk::opencl::kernel_texts<net>.begin(),
                                             dk::opencl::kernel_texts<net>.end());
  const dk::detail::cl_builder one(device, texts);
  texts.pop_back();
  CHECK(dk::detail::cl_builder(device, texts).key() != one.key());
}

TEST_CASE("damaged files are written anew") {
  start_anew();
  CHECK(runs());
  const std::string whole = content(only_file());
  for (const std::size_t left : {std::size_t{0}, std::size_t{20}, whole.size() / 2, whole.size() - 1}) {
    std::filesystem::resize_file(only_file(), left);
    CHECK(counts_of(runs) == counts{1, 0});
    CHECK(content(only_file()).size() == whole.size());
    CHECK(counts_of(runs) == counts{0, 1});
  }
  std::fstream file(only_file(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(whole.size() / 2));
  file.put(static_cast<char>(~whole[whole.size() / 2]));
  file.close();
  CHECK(counts_of(runs) == counts{1, 0});
  CHECK(counts_of(runs) == counts{0, 1});
}

TEST_CASE("a whole file whose binary the driver does not take") {
  start_anew();
  const dk::cl_device device;
  const auto key = dk::detail::cl_builder(device, dk::opencl::kernel_texts<net>).key();
  const std::vector<std::byte> nonsense(100, std::byte{42});
  CHECK(dk::detail::cl_cache(cache).write(key, nonsense));
  CHECK(counts_of(runs) == counts{1, 1});
  CHECK(counts_of(runs) == counts{0, 1});
}

TEST_CASE("a cache that cannot be written, and none") {
  start_anew();
  std::ofstream(cache) << "no folder";
  CHECK(counts_of(runs) == counts{1, 0});
  CHECK(counts_of(runs) == counts{1, 0});
  ::setenv("DNNKIT_CACHE", "", 1);
  CHECK(counts_of(runs) == counts{1, 0});
  std::filesystem::remove(cache);
}

TEST_CASE("kernels that are no program are an error with the compiler's log, and leave nothing in the cache") {
  start_anew();
  std::vector<dk::opencl::kernel_text> broken(dk::opencl::kernel_texts<net>.begin(),
                                              dk::opencl::kernel_texts<net>.end());
  broken[0].source = "kernel void k0(global float*b0){b0[0]=nobody_declared_this;}";
  for (int i = 0; i < 2; ++i) {
    const std::string log =
        error_of([&] { return dk::cl_weights(net::plan, broken, opencl_model::weights()).program(); });
    CHECK(log.find("OpenCL device '" + dk::cl_device().name() + "': the kernels could not be built") == 0);
    CHECK(log.find("nobody_declared_this") != std::string::npos);
  }
  CHECK(!std::filesystem::exists(cache));
  CHECK(runs());  // nothing is the worse for it
}
