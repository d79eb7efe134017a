// SPDX-License-Identifier: MIT
// LABELS: opencl no_sanitize
// Memory of the device as inputs and outputs of runs: whole and in parts, beside memory of the host, from session to
// session; and what is wrong with it.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/runtime/cl_buffer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/runtime/session.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/opencl_model.hpp"

namespace dk = dnnkit;
using opencl_model::data;
using opencl_model::net;

namespace {

// What is in the buffers becomes the data's, and is right.
bool are_right(data& d, const dk::cl_buffer<float>& y, const dk::cl_buffer<float>& s) {
  y.read(d.y);
  s.read(d.s);
  return d.is_right();
}

void for_each_way(auto check) {
  for (const dk::cl_copies copies : {dk::cl_copies::direct, dk::cl_copies::pinned}) {
    CAPTURE(static_cast<int>(copies));
    check(dk::packed_weights<net>(opencl_model::weights(), dk::cl_device("", copies)));
  }
}

struct another_context {
  cl_context context;
  explicit another_context(const dk::cl_device& device) {
    const cl_device_id id = device.id();
    cl_int status = CL_SUCCESS;
    context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, &status);
    REQUIRE(status == CL_SUCCESS);
  }
  another_context(another_context&&) = delete;
  ~another_context() { clReleaseContext(context); }
};

}  // namespace

TEST_CASE("a buffer begins with zeros, and the processor reads and writes parts of it") {
  const dk::cl_device device;
  dk::cl_buffer<int> b(device, 5);
  std::array<int, 5> all{1, 1, 1, 1, 1};
  b.read(all);
  CHECK(all == std::array{0, 0, 0, 0, 0});
  b.write(std::array{7, 8}, 3);
  std::array<int, 3> last{};
  b.read(last, 2);
  CHECK(last == std::array{0, 7, 8});
  CHECK(b.size() == 5);
  CHECK(b.memory() != nullptr);
  dk::cl_buffer<int> moved(std::move(b));
  CHECK(b.size() == 0);
  moved.read(last, 2);
  CHECK(last == std::array{0, 7, 8});
  b = std::move(moved);
  CHECK(b.size() == 5);

  dk::cl_buffer<int> none(device, 0);
  CHECK(none.size() == 0);
  CHECK(none.memory() == nullptr);
  none.write({});
  CHECK(none.part(0, 0).size() == 0);
}

TEST_CASE("runs that are waited for and runs that are not, by position and by name, beside memory of the host") {
  for_each_way([](const dk::packed_weights<net>& weights) {
    const dk::cl_device& device = weights.tables()->device();
    opencl_model::session session(weights);
    for (const std::size_t n : {std::size_t{3}, std::size_t{700}, std::size_t{0}}) {
      session.bind({{"N", static_cast<std::int64_t>(n)}});
      data d(n), other(n, 1);
      dk::cl_buffer<float> x(device, 3 * n), y(device, 4 * n), s(device, n);
      x.write(d.x);
      session.run(x, y, s);
      CHECK(are_right(d, y, s));
      x.write(other.x);
      session.start(dk::out<"s">(s), dk::in<"x">(std::as_const(x)), dk::out<"y">(y)).wait();
      CHECK(are_right(other, y, s));
      session.run({{"x", d.x}}, {{"y", y}, {"s", s}});
      CHECK(are_right(d, y, s));
      d = data(n, 1);
      session.run(x, d.y, s);
      s.read(d.s);
      CHECK(d.is_right());
    }
  });
}

TEST_CASE("parts of buffers") {
  const dk::packed_weights<net> weights(opencl_model::weights());
  const dk::cl_device& device = weights.tables()->device();
  opencl_model::session session(weights);
  session.bind({{"N", 10}});
  dk::cl_buffer<float> x(device, 90), y(device, 120), s(device, 10);
  for (std::size_t i = 0; i < 3; ++i) x.write(data(10, static_cast<float>(i)).x, 30 * i);
  for (std::size_t i = 0; i < 3; ++i) {
    session.start(std::as_const(x).part(30 * i, 30), y.part(40 * i, 40), s).wait();
    data d(10, static_cast<float>(i));
    y.read(d.y, 40 * i);
    s.read(d.s);
    CHECK(d.is_right());
  }
  CHECK(error_of([&] {
          session.run(x.part(0, 29), y.part(0, 40), s);
          return 0;
        }) == "input 'x': range has the wrong size, expected 30 elements, found 29");
  const auto gone = [&] {
    dk::cl_buffer<float> buffer(device, 30);
    return buffer.part(0, 30);
  }();
  CHECK(error_of([&] {
          session.run(gone, y.part(0, 40), s);
          return 0;
        }) == "part of a buffer of an OpenCL device: the buffer that it is a part of is gone");
}

namespace {

struct halves {  // each output is half of what is put in
  static constexpr void build(dk::builder& g) { g.output("y", g.input("x", dk::f32, {4}) * 0.5); }
};
using halves_net = dk::compile<halves, dk::targets::opencl>;

struct branches {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {8, 8}), c = g.input("c", dk::boolean, {});
    const dk::tensor a = dk::softmax(dk::matmul(x, g.weight("w", {8, 8})), {.axis = 1});
    g.output("y", dk::combine(c, a, x));
  }
};

}  // namespace

TEST_CASE("what one session writes another reads, and a session what it has written") {
  const dk::packed_weights<halves_net> weights(dk::weight_file("none", std::vector<dk::stored_tensor>{}));
  const dk::cl_device& device = weights.tables()->device();
  dk::session<halves_net> first(weights), second(weights);
  dk::cl_buffer<float> a(device, 4), b(device, 4);
  a.write(std::array{1.f, 2.f, 4.f, 8.f});
  first.run(a, b);
  second.run(b, a);
  first.run(a, b);
  std::array<float, 4> y{};
  b.read(y);
  CHECK(y == std::array{.125f, .25f, .5f, 1.f});
}

TEST_CASE("a condition that lies on the device is fetched before the run") {
  using branches_net = dk::compile<branches, dk::targets::opencl>;
  std::vector<float> w(64), x(64, 1.f), y(64);
  const dk::packed_weights<branches_net> weights(dk::memory_weights{{"w", w}});
  dk::session<branches_net> session(weights);
  dk::cl_buffer<bool> c(weights.tables()->device(), 1);
  for (const bool taken : {true, false, true}) {
    c.write(std::array{taken});
    session.run(x, c, y);
    CHECK(y[9] == (taken ? .125f : 1.f));
  }
  auto& known = dk::detail::cl_known_memory::of_process();
  const another_context other(weights.tables()->device());
  bool elsewhere = true;
  known.add(&elsewhere, 1, other.context, c.memory());
  CHECK(error_of([&] {
          session.run(x, std::span(&elsewhere, 1), y);
          return 0;
        }).find("input 'c': its range lies in memory of another device") == 0);
  known.remove(&elsewhere);
}

TEST_CASE("an empty part shares memory with nothing") {
  struct rows {
    static constexpr void build(dk::builder& g) {
      const dk::tensor x = g.input("x", dk::f32, {dk::sym("N", {0, 9}), 2}), z = g.input("z", dk::f32, {2});
      g.output("y", x + 1.0);
      g.output("w", z + 1.0);
    }
  };
  using rows_net = dk::compile<rows, dk::targets::opencl>;
  const dk::packed_weights<rows_net> weights(dk::weight_file("none", std::vector<dk::stored_tensor>{}));
  dk::session<rows_net> session(weights);
  session.bind({{"N", 0}});
  dk::cl_buffer<float> z(weights.tables()->device(), 2), w(weights.tables()->device(), 2);
  session.run(z.part(1, 0), z, w.part(1, 0), w);
  std::array<float, 2> found{};
  w.read(found);
  CHECK(found == std::array{1.f, 1.f});
}

namespace {

std::vector<dk::cl_buffer<float>> at_exit;  // made before what is known of memory is, and gone after it would be

}  // namespace

TEST_CASE("buffers may be a program's globals") {
  for (int i = 0; i < 5; ++i) at_exit.emplace_back(dk::cl_device(), 4);
  CHECK(at_exit[4].size() == 4);
}

TEST_CASE("what is wrong with a buffer and with arguments that are") {
  const dk::packed_weights<halves_net> weights(dk::weight_file("none", std::vector<dk::stored_tensor>{}));
  const dk::cl_device& device = weights.tables()->device();
  dk::session<halves_net> session(weights);
  dk::cl_buffer<float> b(device, 6);
  std::vector<float> host(7);
  CHECK(error_of([&] {
          b.read(host);
          return 0;
        }) == "a buffer of an OpenCL device: has fewer elements, expected 7 from number 0 on, found 6");
  CHECK(error_of([&] {
          b.write(std::span(host).first(2), 5);
          return 0;
        }).find("2 from number 5 on") != std::string::npos);
  CHECK(error_of([&] { return b.part(~std::size_t{0}, 2).size(); }).find("has fewer elements") != std::string::npos);
  CHECK(error_of([&] {
          return dk::cl_buffer<float>(device, ~std::size_t{0} / 2).size();
        }).find("too large for a buffer of the device") != std::string::npos);
  CHECK(error_of([&] {
          session.run(b.part(0, 4), b.part(2, 4));
          return 0;
        }) == "input 'x' and output 'y': ranges share memory");

  using host_net = dk::compile<halves>;
  dk::session<host_net> on_processor;
  CHECK(error_of([&] {
          on_processor.run({{"x", b.part(0, 4)}}, {{"y", host}});
          return 0;
        }) == "input 'x': its range is in memory of a device, and the network runs on the processor");
}

TEST_CASE("memory of another device is refused, memory of the host that another has pinned is as any other") {
  const dk::packed_weights<halves_net> weights(dk::weight_file("none", std::vector<dk::stored_tensor>{}),
                                               dk::cl_device("", dk::cl_copies::pinned));
  const dk::cl_device& device = weights.tables()->device();
  dk::session<halves_net> session(weights);
  const another_context other(device);
  const dk::cl_buffer<float> b(device, 4);
  std::array<float, 4> x{2, 4, 6, 8}, y{};
  auto& known = dk::detail::cl_known_memory::of_process();
  known.add(x.data(), sizeof x, other.context, nullptr);
  session.run(x, y);
  CHECK(y == std::array{1.f, 2.f, 3.f, 4.f});
  known.add(x.data(), sizeof x, other.context, b.memory());
  CHECK(
      error_of([&] {
        session.run(x, y);
        return 0;
      }) ==
      "input 'x': its range lies in memory of another device, or of one that has been lost, expected OpenCL device '" +
          device.name() + "'");
  known.remove(x.data());
  session.run(x, y);
  CHECK(y == std::array{1.f, 2.f, 3.f, 4.f});
}
