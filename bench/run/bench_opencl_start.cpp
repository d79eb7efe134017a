// SPDX-License-Identifier: MIT
// How long a process takes from its start to the first result of a network on an OpenCL device, with the caches of
// dnnkit and of PoCL empty or filled. Starts itself again and again; prints medians in milliseconds.
//   bench_opencl_start [TURNS]
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/opencl.hpp"
#include "dnnkit/weights/memory_weights.hpp"

namespace dk = dnnkit;

namespace {

// The network of examples/01_digits.cpp: six kernels.
struct digits {
  static constexpr void build(dk::builder& g) {
    auto x = g.input("x", dk::f32, {1, 1, 8, 8});
    const auto block = [&](dk::tensor t, const char* w, int in, int out) {
      return dk::relu(dk::conv(t, g.weight(w, {out, in, 3, 3}), {.pads = {1, 1, 1, 1}}));
    };
    const auto pool = [](dk::tensor t) { return dk::max_pool(t, {.kernel_shape = {2, 2}, .strides = {2, 2}}); };
    const auto y = pool(block(pool(block(block(x, "a", 1, 16), "b", 16, 32)), "c", 32, 32));
    g.output("y", dk::matmul(dk::flatten(y), g.weight("d", {128, 10})));
  }
};
using net = dk::compile<digits, dk::targets::opencl>;

int run_once() {
  const std::vector<float> a(16 * 9, 0.1F), b(std::size_t{32} * 16 * 9, 0.01F), c(std::size_t{32} * 32 * 9, 0.01F),
      d(1280, 0.1F);
  dk::session<net> s(dk::memory_weights{{"a", a}, {"b", b}, {"c", c}, {"d", d}});
  std::array<float, 64> x{};
  std::array<float, 10> y{};
  x.fill(1);
  s.run(x, y);
  return y[0] > 0 ? 0 : 1;
}

// Milliseconds that a process of this program takes; below 0: it failed.
double time_of_process() {
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/proc/self/exe", "bench_opencl_start", "once", nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? took.count() : -1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "once") return run_once();
  const int turns = argc > 1 ? std::atoi(argv[1]) : 11;
  const std::filesystem::path ours = std::filesystem::absolute("opencl_start_dnnkit"),
                              drivers = std::filesystem::absolute("opencl_start_pocl");
  ::setenv("DNNKIT_CACHE", ours.c_str(), 1);
  ::setenv("POCL_CACHE_DIR", drivers.c_str(), 1);
  fmt::print("dnnkit's cache  the driver's  ms to the first result\n");
  for (const bool ours_filled : {false, true})
    for (const bool drivers_filled : {false, true}) {
      std::vector<double> times;
      for (int i = 0; i < turns; ++i) {
        std::filesystem::create_directories(drivers);
        if (time_of_process() < 0) return 1;  // fills both
        if (!ours_filled) std::filesystem::remove_all(ours);
        if (!drivers_filled) std::filesystem::remove_all(drivers);
        std::filesystem::create_directories(drivers);
        times.push_back(time_of_process());
        if (times.back() < 0) return 1;
      }
      std::ranges::sort(times);
      fmt::print("{:<16}{:<14}{:.1f}\n", ours_filled ? "filled" : "empty", drivers_filled ? "filled" : "empty",
                 times[times.size() / 2]);
    }
  std::filesystem::remove_all(ours);
  std::filesystem::remove_all(drivers);
  return 0;
}
