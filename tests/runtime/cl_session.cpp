// SPDX-License-Identifier: MIT
// LABELS: opencl no_sanitize
// Sessions on an OpenCL device have the face of those on the processor; what the platform has to say is dnnkit::error.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/runtime/cl_session.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/weights/memory_weights.hpp"
#include "tests/support/error_of.hpp"

namespace dk = dnnkit;

namespace {

struct model {  // a setup, two kernels, a value in the arena, two outputs
  static constexpr void build(dk::builder& g) {
    const auto x = g.input("x", dk::f32, {2, 3});
    const auto y = dk::relu(dk::matmul(x, g.weight("w", {3, 4}) * 2.0));
    g.output("y", y);
    g.output("p", dk::softmax(y));
  }
};
using net = dk::compile<model, dk::targets::opencl>;
static_assert(net::kernels == 2 && net::plan.setup_steps.size() == 1);
static_assert(!std::is_same_v<net, dk::compile<model>>);
static_assert(dk::opencl::kernel_texts<net>.size() == net::distinct_kernels);

constexpr std::array<float, 6> x{1, 2, 3, -1, 0, 1};
constexpr std::array<float, 12> w{1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, -1};

dk::memory_weights weights() { return {{"w", w}}; }

// What the network gives for these weights, by hand.
void check(std::span<const float> y, std::span<const float> p, float factor) {
  for (std::size_t i = 0; i < 2; ++i) {
    float sum = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      float product = 0;
      for (std::size_t k = 0; k < 3; ++k) product += x[3 * i + k] * factor * w[4 * k + j];
      CHECK(y[4 * i + j] == doctest::Approx(product < 0 ? 0 : product));
      sum += std::exp(y[4 * i + j]);
    }
    for (std::size_t j = 0; j < 4; ++j) CHECK(p[4 * i + j] == doctest::Approx(std::exp(y[4 * i + j]) / sum));
  }
}

struct counting {
  int begun = 0, ended = 0, most = 100;
  bool before(const dk::plan_view&, std::size_t) { return begun < most && ++begun > 0; }
  void after(const dk::plan_view&, std::size_t) { ++ended; }
};

}  // namespace

TEST_CASE("ranges by position and by name, weights shared and exchanged") {
  std::array<float, 8> y{}, p{};
  const dk::packed_weights<net> packed(weights());
  dk::session<net> s(packed), other(packed);
  static_assert(!noexcept(s.run(x, y, p)));  // the device may fail
  s.run(x, y, p);
  check(y, p, 2);
  std::vector<float> y2(8), p2(8);
  other.run(dk::out<"p">(p2), dk::in<"x">(x), dk::out<"y">(y2));
  check(y2, p2, 2);
  p2.assign(8, 0);
  other.run({{"x", x}}, {{"y", y2}, {"p", p2}});
  check(y2, p2, 2);

  std::array<float, 12> half = w;
  for (float& v : half) v /= 2;
  other.load(dk::memory_weights{{"w", half}});
  other.run(x, y2, p2);
  check(y2, p2, 1);
  s.run(x, y, p);
  check(y, p, 2);

  CHECK(s.arena_bytes() == net::arena_bytes);
  CHECK(s.input_elements(0) == 6);
  CHECK(s.output_elements(1) == 8);
  dk::session<net> moved(std::move(s));
  moved.run(x, y, p);
  CHECK(error_of([&] { return s.run(x, y, p); }) == "session: it has been moved from");
}

TEST_CASE("an observer is told of every kernel, and may stop the run") {
  std::array<float, 8> y{}, p{};
  dk::session<net, counting> s(weights());
  CHECK(s.run(x, y, p));
  CHECK(s.observer().begun == 2);
  CHECK(s.observer().ended == 2);
  s.observer().most = 3;
  CHECK(!s.run(x, y, p));
  CHECK(s.observer().ended == 3);
}

TEST_CASE("what is wrong with arguments and weights") {
  dk::session<net> s(weights());
  std::vector<float> y(8), p(7);
  CHECK(error_of([&] { return s.run(x, y, p); }) ==
        "output 'p': range has the wrong size, expected 8 elements, found 7");
  CHECK(error_of([&] {
          s.bind({{"N", 3}});
          return 0;
        }) == "bind: no such symbol, expected none, found N");
  CHECK(error_of([] {
          return dk::session<net>(dk::memory_weights{{"v", w}});
        }).find("1 of the 1 tensors needed") != std::string::npos);
}

TEST_CASE("the platform's mistakes are errors that say what it said") {
  const std::string device = error_of([] { return dk::cl_device("no such device").name(); });
  CHECK(device.find("OpenCL: there is no such device, expected one whose name holds 'no such device', found '") == 0);
  CHECK(device.find(dk::cl_device().name()) != std::string::npos);  // all there are

  std::vector<dk::opencl::kernel_text> broken(dk::opencl::kernel_texts<net>.begin(),
                                              dk::opencl::kernel_texts<net>.end());
  broken[0].source = "kernel void k0(global float*b0){b0[0]=nobody_declared_this;}";
  const std::string log = error_of([&] { return dk::cl_weights(net::plan, broken, weights()).program(); });
  CHECK(log.find("OpenCL device '" + dk::cl_device().name() + "': the kernels could not be built") == 0);
  CHECK(log.find("nobody_declared_this") != std::string::npos);
}
