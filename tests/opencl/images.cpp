// SPDX-License-Identifier: MIT
// Values in images: which there are, and what kernels of each family write into them and read from them, on a device
// against the reference evaluator.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "dnnkit/opencl.hpp"
#include "dnnkit/plan/image_place.hpp"
#include "dnnkit/plan/verify_plan.hpp"
#include "tests/support/opencl_check.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32;
using dk::tensor;

namespace {

using target = dk::targets::opencl_in<dk::images>;

// So many of the graph's values are in images, and it gives what the evaluator says.
void check_images(std::size_t images, auto build) {
  for (const std::uint64_t seed : harness::seeds(1, 2)) {
    CAPTURE(seed);
    dk::builder b;
    build(b);
    CHECK(harness::values_in_images(b.value()) == images);
    CHECK_MESSAGE(harness::opencl_error(b.value(), seed) == "", harness::describe(b.value()));
  }
}

}  // namespace

TEST_CASE("maps, and windows around elements that others have computed") {
  check_images(1, [](dk::builder& g) {
    const tensor x = g.input("x", f32, {1, 3, 6, 8}), y = dk::tanh(x) * x;
    g.output("largest", dk::max_pool(y, {.kernel_shape = {3, 3}, .pads = {1, 1, 1, 1}}));
    g.output("mean", dk::average_pool(y, {.kernel_shape = {2, 3}, .strides = {1, 2}}));
  });
  check_images(1, [](dk::builder& g) {  // read through movement
    const tensor x = g.input("x", f32, {2, 5, 12}), y = dk::reduce_max(x, {.axes = {1}});
    const tensor joined = dk::concat({dk::exp(x), x - y}, {.axis = 1});
    g.output("turned", dk::softmax(dk::transpose(joined, {.perm = {2, 0, 1}})));
  });
}

TEST_CASE("rows of each length: a texel an item, rows that are not whole in a group, more than registers keep") {
  for (const std::int64_t length : {4, 12, 100, 260, 5000})
    for (const std::int64_t rows : {1, 3, 40}) {
      const bool is_quick = rows == (length > 260 ? 1 : 40);
      if (length * rows > 60000 || (!is_quick && !harness::is_thorough)) continue;
      check_images(1, [&](dk::builder& g) {
        const tensor x = g.input("x", f32, {rows, length});
        g.output("y", dk::cum_sum(dk::softmax(x), {.axis = 0}));
      });
    }
}

TEST_CASE("products in tiles, of few rows, batched, and through views") {
  // Where there are tiles, the last product normalises its rows itself.
  for (const std::int64_t m : harness::numbers({1, 33}, {3, 70}))
    check_images(m > 8 ? 1 : 2, [&](dk::builder& g) {
      const tensor x = g.input("x", f32, {m, 48});
      const tensor h = dk::gelu(dk::matmul(x, g.weight("a", {48, 64})) + g.weight("c", {64}));
      g.output("y", dk::matmul(dk::layer_normalization(h, g.weight("s", {64}), g.weight("t", {64})),
                               g.weight("b", {64, 20})));
    });
}

TEST_CASE("convolutions: windows, one tap, depthwise, groups, and pixels that are no texels of a channel") {
  const auto chain = [](std::int64_t size) {
    return [size](dk::builder& g) {
      const tensor x = g.input("x", f32, {1, 16, size, size});
      const tensor a =
          dk::relu(dk::conv(x, g.weight("a", {32, 16, 3, 3}), g.weight("n", {32}), {.pads = {1, 1, 1, 1}}));
      const tensor b = dk::silu(dk::conv(a, g.weight("b", {48, 32, 1, 1})));
      const tensor c = dk::conv(b, g.weight("c", {48, 1, 3, 3}), {.pads = {1, 1, 1, 1}, .group = 48}) + b;
      g.output("y", dk::conv(c, g.weight("d", {24, 12, 3, 3}), {.strides = {2, 2}, .pads = {1, 1, 1, 1}, .group = 4}));
    };
  };
  check_images(3, chain(12));
  check_images(1, chain(14));
  check_images(0, chain(7));
}

TEST_CASE("attention between products") {
  check_images(2, [](dk::builder& g) {
    const std::int64_t keys = 72, heads = 2, width = 32;
    const tensor x = g.input("x", f32, {keys, heads * width});
    const auto head = [&](const char* name) {
      const tensor all = dk::matmul(x, g.weight(name, {heads * width, heads * width}));
      return dk::transpose(dk::reshape(all, {keys, heads, width}), {.perm = {1, 0, 2}});
    };
    const tensor scores = dk::matmul(head("q"), dk::transpose(head("k"), {.perm = {0, 2, 1}})) * 0.2;
    const tensor result = dk::transpose(dk::matmul(dk::softmax(scores), head("v")), {.perm = {1, 0, 2}});
    g.output("y", dk::matmul(dk::reshape(result, {keys, heads * width}), g.weight("o", {heads * width, 20})));
  });
}

TEST_CASE("numbers of 16 bits lie in images of such") {
  check_images(1, [](dk::builder& g) {
    const tensor x = dk::cast(g.input("x", f32, {6, 8}), {.to = dk::f16});
    g.output("y", dk::cast(dk::cum_sum(dk::softmax(x), {.axis = 0}), {.to = f32}));
  });
}

TEST_CASE("an image is large enough for all that are in it at a time, one after the other") {
  dk::builder g;
  tensor x = g.input("x", f32, {8, 8});
  std::int64_t k = 8;
  for (const std::int64_t n : {256, 8, 512, 16, 12}) {
    const std::string name = "w" + std::to_string(n);
    x = dk::softmax(dk::matmul(x, g.weight(name, {k, n})));
    k = n;
  }
  g.output("y", x);
  const dk::schedule s = dk::default_pipeline::run_logged<target>(g.value());
  CHECK(dk::verify(dk::plan::view_of(s.plan)) == "");
  std::size_t images = 0;
  dk::plan::for_each_image(s.plan.buffers, [&](std::size_t, dk::dtype, const dk::plan::image_size&) { ++images; });
  CHECK(images == 2);
  CHECK(harness::opencl_error(g.value(), 1) == "");
}

TEST_CASE("values are in one image one after the other, but where an image as large as both takes more than two") {
  const auto buffer_of = [](std::int32_t texel_row, std::int64_t rows, std::int32_t first, std::int32_t last) {
    dk::plan::buffer b;
    b.where = dk::plan::storage::image;
    b.layout.texel_row = texel_row;
    b.elements = texel_row * rows;
    b.first = first, b.last = last;
    return b;
  };
  const auto images_of = [](std::initializer_list<dk::plan::buffer> buffers) {
    dk::vector<dk::plan::buffer> all;
    for (const dk::plan::buffer& b : buffers) all.push_back(b);
    dk::plan::share_images(all);
    std::string numbers;
    for (const dk::plan::buffer& b : all) numbers += std::to_string(b.offset);
    return numbers;
  };
  CHECK(images_of({buffer_of(256, 10, 0, 1), buffer_of(256, 30, 1, 2), buffer_of(256, 20, 2, 3)}) == "010");
  CHECK(images_of({buffer_of(4096, 4, 0, 1), buffer_of(64, 256, 2, 3)}) == "01");  // as one: 4096 x 256 elements
  CHECK(images_of({buffer_of(4096, 4, 0, 1), buffer_of(64, 256, 2, 3), buffer_of(64, 200, 4, 5)}) == "011");
}

TEST_CASE("plans with two values in one image at a time, or rows that are no texels, are found out") {
  dk::builder g;
  const tensor h = dk::matmul(dk::softmax(g.input("x", f32, {8, 8})), g.weight("w", {8, 12}));
  g.output("y", dk::cum_sum(h, {.axis = 0}));
  const dk::plan::plan_draft right = dk::default_pipeline::run<target>(g.value()).plan;
  const auto verdict_with = [&](auto change) {
    dk::plan::plan_draft plan = right;
    for (dk::plan::buffer& b : plan.buffers)
      if (b.where == dk::plan::storage::image) change(b);
    return dk::verify(dk::plan::view_of(plan)).str();
  };
  CHECK(verdict_with([](dk::plan::buffer&) {}) == "");
  CHECK(verdict_with([](dk::plan::buffer& b) { b.offset = 0; }) == "values in one image at a time");
  CHECK(verdict_with([](dk::plan::buffer& b) { b.layout.texel_row = 6; }) ==
        "an image whose rows are no texels of all its elements");
  CHECK(verdict_with([](dk::plan::buffer& b) { b.layout.texel_row = 0; }) ==
        "an image without rows, or rows of what is no image");
}

TEST_CASE("the log says what is no image, and why") {
  const auto reasons = [](auto build) {
    dk::builder g;
    build(g);
    const dk::schedule s = dk::default_pipeline::run_logged<target>(g.value());
    std::string all;
    for (const dk::plan::decision& d : s.log.decisions)
      if (d.pass == "choose images") all += std::string(d.verdict) + ": " + std::string(d.reason) + '\n';
    return all;
  };
  const auto of_extents = [&](std::int64_t rows, std::int64_t n) {
    return reasons([&](dk::builder& g) {
      g.output("y", dk::cum_sum(dk::softmax(g.input("x", f32, {rows, n})), {.axis = 0}));
    });
  };
  CHECK(of_extents(2, 8) == "image: its kernel has four neighbours at a time\n");
  CHECK(of_extents(4, 7) == "buffer: its kernel does not have four neighbours at a time\n");
  CHECK(of_extents(3, 7) == "buffer: its rows are no texels of four\n");
  CHECK(of_extents(1, 40'000) == "buffer: its rows are no texels of four\n");
}
