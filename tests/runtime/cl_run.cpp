// SPDX-License-Identifier: MIT
// LABELS: opencl no_sanitize
// Runs that are not waited for, with inputs and outputs copied straight and by way of pinned memory.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/runtime/cl_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/runtime/cl_array.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/opencl_model.hpp"

namespace dk = dnnkit;
using opencl_model::data;
using opencl_model::net;

namespace {

void for_each_way(auto check) {
  for (const dk::cl_copies copies : {dk::cl_copies::direct, dk::cl_copies::pinned, dk::cl_copies::as_fits}) {
    CAPTURE(static_cast<int>(copies));
    check(dk::packed_weights<net>(opencl_model::weights(), dk::cl_device("", copies)));
  }
}

}  // namespace

TEST_CASE("a run that is waited for") {
  for_each_way([](const dk::packed_weights<net>& weights) {
    opencl_model::session s(weights);
    for (const std::size_t n : {std::size_t{3}, std::size_t{700}, std::size_t{1}, std::size_t{0}}) {
      s.bind({{"N", static_cast<std::int64_t>(n)}});
      data blocking(n), d(n, 1);
      s.run(blocking.x, blocking.y, blocking.s);
      CHECK(blocking.is_right());
      dk::cl_run run = s.start(d.x, d.y, d.s);
      run.wait();
      CHECK(d.is_right());
      CHECK(run.has_ended());
      run.wait();  // again
      s.start(dk::out<"s">(d.s), dk::in<"x">(blocking.x), dk::out<"y">(d.y)).wait();
      CHECK(d.y == blocking.y);
      data named(n, 1);
      s.start({{"x", named.x}}, {{"s", named.s}, {"y", named.y}}).wait();
      CHECK(named.is_right());
    }
  });
}

TEST_CASE("arrays that the device copies from and to by itself, whole and in parts, beside memory of another kind") {
  for_each_way([](const dk::packed_weights<net>& weights) {
    const dk::cl_device& device = weights.tables()->device();
    opencl_model::session s(weights);
    s.bind({{"N", 300}});
    data d(300), parts(300, 1);
    dk::cl_array<float> x(device, 900), y(device, 1200), more(device, 0), moved(std::move(more));
    CHECK(moved.size() == 0);
    CHECK(*std::ranges::max_element(x) == 0);
    std::ranges::copy(d.x, x.begin());
    s.run(x, y, d.s);
    std::ranges::copy(y, d.y.begin());
    CHECK(d.is_right());
    moved = std::move(y);
    std::ranges::copy(parts.x, x.begin());
    s.start(x, moved, parts.s).wait();
    std::ranges::copy(moved, parts.y.begin());
    CHECK(parts.is_right());
    s.bind({{"N", 100}});
    data few(100, 2);
    std::ranges::copy(few.x, x.begin() + 300);
    s.run(std::span(x).subspan(300, 300), std::span(moved).subspan(800), few.s);
    std::ranges::copy(std::span(moved).subspan(800), few.y.begin());
    CHECK(few.is_right());
    CHECK(error_of([&] { dk::cl_array<float>(device, std::size_t{1} << 62); }).find("pinned memory") !=
          std::string::npos);
  });
}

TEST_CASE("what lies in an array, as long as there is one, has no stop on its way; all else has") {
  const dk::cl_device device;
  std::byte elsewhere[16]{};
  const dk::detail::cl_copy copy{nullptr, 16, false, 0, "y", elsewhere, &device};
  std::byte* last = nullptr;
  {
    dk::cl_array<std::byte> a(device, 64);
    std::byte* const first = a.data();
    last = first + 48;
    CHECK(copy.stop_for(first) == nullptr);
    CHECK(copy.stop_for(last) == nullptr);
    CHECK(copy.stop_for(last + 1) == elsewhere);  // one byte is behind it
    CHECK(copy.stop_for(first - 1) == elsewhere);
    CHECK(copy.stop_for(elsewhere) == elsewhere);
    const dk::cl_array<std::byte> moved(std::move(a));
    CHECK(copy.stop_for(first) == nullptr);
  }
  CHECK(copy.stop_for(last) == elsewhere);
}

TEST_CASE("whatever is done next waits: the handle's end, another run, other symbols, weights, the session's end") {
  for_each_way([](const dk::packed_weights<net>& weights) {
    opencl_model::session s(weights);
    s.bind({{"N", 500}});
    data a(500), b(500, 1), c(500, 2);
    { const dk::cl_run run = s.start(a.x, a.y, a.s); }
    CHECK(a.is_right());

    a = data(500, 3);
    dk::cl_run first = s.start(a.x, a.y, a.s);
    dk::cl_run second = s.start(b.x, b.y, b.s);
    CHECK(a.is_right());
    s.run(c.x, c.y, c.s);
    CHECK(b.is_right());
    CHECK(c.is_right());
    first.wait();
    second.wait();

    b = data(500, 4);
    second = s.start(b.x, b.y, b.s);
    s.bind({{"N", 5000}});
    CHECK(b.is_right());

    data large(5000);
    second = s.start(large.x, large.y, large.s);
    s.load(weights);
    CHECK(large.is_right());

    large = data(5000, 1);
    std::optional<opencl_model::session> other(std::in_place, std::move(s));
    second = other->start(large.x, large.y, large.s);
    other.reset();
    CHECK(large.is_right());
    CHECK(second.has_ended());
    second.wait();
  });
}

TEST_CASE("two sessions on their way at the same time") {
  for_each_way([](const dk::packed_weights<net>& weights) {
    opencl_model::session s(weights), t(weights);
    s.bind({{"N", 1000}});
    t.bind({{"N", 2000}});
    for (int i = 0; i < 20; ++i) {
      data a(1000, static_cast<float>(i)), b(2000, static_cast<float>(-i));
      dk::cl_run first = s.start(a.x, a.y, a.s), second = t.start(b.x, b.y, b.s);
      second.wait();
      CHECK(b.is_right());
      first.wait();
      CHECK(a.is_right());
    }
  });
}

TEST_CASE("what is wrong with arguments is said at once") {
  opencl_model::session s(opencl_model::weights());
  data d(4);
  CHECK(error_of([&] { return s.start(d.x, d.y, d.s).has_ended(); }) ==
        "session: the symbols have no values yet; call bind()");
  s.bind({{"N", 5}});
  CHECK(error_of([&] { return s.start(d.x, d.y, d.s).has_ended(); }).find("input 'x': range has the wrong size") == 0);
}
