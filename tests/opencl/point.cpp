// SPDX-License-Identifier: MIT
// Operators that say at() for any of their elements, written as OpenCL C by their own definitions and run on a device
// against the reference evaluator.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/opencl.hpp"
#include "tests/support/opencl_check.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32;
using dk::tensor;
using harness::check_on_device;

namespace {

// Whole numbers from -most to most.
tensor whole(dk::builder& g, const std::string& name, dk::shape_argument dims, float most, dk::dtype type = dk::i64) {
  return dk::cast(dk::clip(dk::round(g.input(name, f32, dims) * (2.0F * most)), {.min = -most, .max = most}),
                  {.to = type});
}

// An operator of the user's: the element of x that is so many places further along the last axis, around its end, to
// a power if there is a distance at all.
struct turned_power {
  std::int64_t distance = 1;

  static constexpr std::string_view name = "TurnedPower";
  static constexpr dk::form kind = dk::form::point;
  static constexpr std::size_t inputs = 1;
  static constexpr dk::element_kinds accepts = dk::element_kinds::number;
  static constexpr dk::traits properties{.map = dk::mapping::shuffle};
  static constexpr void attributes(auto& self, auto&& visit) { visit("distance", self.distance); }
  static constexpr void infer(dk::inference& c) {
    if (c.require_rank(0, 1, dk::max_rank)) c.out(c.type(0), c.in(0));
  }
  template <class O> constexpr auto at(const auto& c, const O& o, auto x) const {
    using dk::variable, dk::assign, dk::for_each, std::pow;
    using number = dk::coordinate_of<O>;
    const std::size_t last = c.out_rank() - 1;
    O i = o;
    auto place = variable(c, o[last]);
    for_each(c, number(distance), [&](const number&) { assign(c, place, (place + number(1)) % c.out(last)); });
    i[last] = place;
    const auto element = x(i);
    using T = std::remove_const_t<decltype(element)>;
    return distance == 0 ? element : static_cast<T>(pow(element, T(2)));
  }
};
template <dk::dtype Type, std::int64_t Distance> struct turned {
  static constexpr auto ops = dk::builtin_ops + dk::op_set<turned_power>{};
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::apply(turned_power{Distance}, g.input("x", Type, {2, 5})));
  }
};
template <dk::dtype Type, std::int64_t Distance> constexpr bool is_refused() {
  using net = dk::compile<turned<Type, Distance>, dk::targets::opencl>;
  char room[4000]{};
  dk::opencl::source_writer out(room, sizeof room);
  const std::string_view why = "TurnedPower: there is no OpenCL kernel for this operator with integers";
  const dk::text error = dk::opencl::write_kernel<decltype(turned<Type, Distance>::ops)>(net::plan, 0, out).error;
  return error.view() == why;
}
static_assert(!is_refused<f32, 2>() && !is_refused<dk::i32, 0>());
static_assert(is_refused<dk::i32, 2>());  // no powers of integers

// Operators whose definitions are written while the compiler runs.
struct model {
  static constexpr void build(dk::builder& g) {
    const tensor x = g.input("x", f32, {1, 4, 5, 6}), i = g.input("i", dk::i64, {1, 4, 5, 2});
    g.output("resize", dk::resize(x, {.scales = {1, 1, 2, 2}, .mode = dk::resize_mode::cubic}));
    g.output("elements", dk::gather_elements(x, i, {.axis = 3}));
    g.output("slices", dk::gather_nd(x, i * g.scalar(0, dk::i64), {.batch_dims = 0}));
    g.output("scattered", dk::scatter_elements(x, i, g.input("u", f32, {1, 4, 5, 2}), {.axis = 3}));
    g.output("slices scattered", dk::scatter_nd(x, g.input("j", dk::i64, {3, 2}), g.input("v", f32, {3, 5, 6})));
    g.output("sums", dk::cum_sum(x, {.axis = 2}));
    g.output("largest", dk::arg_max(x, {.axis = 1}));
    g.output("padded",
             dk::softmax(dk::pad(dk::exp(x), {.pads = {0, 0, 1, 1, 0, 0, 1, 1}, .mode = dk::pad_mode::wrap})));
    g.output("transposed", dk::conv_transpose(x, g.weight("w", {4, 3, 2, 2}), {.strides = {2, 2}}));
    g.output("norms", dk::lp_pool(x, {.kernel_shape = {2, 2}}));
    g.output("places", dk::max_pool_indices(x, {.kernel_shape = {2, 2}}));
    g.output("channels", dk::lrn(x, {.size = 3}));
    g.output("image", dk::col2im(g.input("c", f32, {1, 8, 9}), {.image_shape = {4, 4}, .block_shape = {2, 2}}));
    g.output("hot", dk::one_hot(i, g.input("values", f32, {2}), {.depth = 5}));
    g.output("upper", dk::trilu(x));
    g.output("remainders", dk::mod(i, g.scalar(3, dk::i64)));
  }
};
static_assert(dk::opencl::kernel_texts<dk::compile<model, dk::targets::opencl>>.size() >= 16);

}  // namespace

TEST_CASE("an operator of the user's, by its definition") {
  using net = dk::compile<turned<f32, 3>, dk::targets::opencl>;
  dk::session<net> s;
  const std::array<float, 10> x{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::array<float, 10> y{};
  s.run(x, y);
  const std::array<float, 10> expected{9, 16, 0, 1, 4, 64, 81, 25, 36, 49};
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == doctest::Approx(expected[i]).epsilon(2e-6));  // pow: 16 ulp
}

TEST_CASE("Resize: every mode, transformation of coordinates and rounding, by scales and by sizes") {
  check_on_device(
      [](dk::builder& g, random_source& r) {
        const std::int64_t h = r.between(2, 6), w = r.between(1, 7);
        const tensor x = g.input("x", f32, {1, 2, h, w}), n = whole(g, "n", {1, 2, h, w}, 100, dk::i32);
        int number = 0;
        const auto add = [&](const tensor& of, dk::op::resize to) {
          if (r.chance(50)) to.sizes = {1, 2, r.between(1, 9), r.between(1, 9)};
          else to.scales = {1, 1, r.chance(50) ? 2.0F : 0.6F, r.chance(50) ? 1.5F : 1.0F};
          if (to.coordinate_transformation_mode == dk::coordinate_mode::tf_crop_and_resize)
            to.roi = {0, 0, 0.25F, -0.5F, 1, 1, 0.75F, 1.25F};
          g.output("y" + std::to_string(number++), dk::resize(of, to));
        };
        for (const auto mode : {dk::resize_mode::nearest, dk::resize_mode::linear, dk::resize_mode::cubic}) {
          for (const auto from : {dk::coordinate_mode::half_pixel, dk::coordinate_mode::pytorch_half_pixel,
                                  dk::coordinate_mode::asymmetric, dk::coordinate_mode::align_corners,
                                  dk::coordinate_mode::tf_crop_and_resize, dk::coordinate_mode::half_pixel_symmetric})
            add(dk::relu(x), {.mode = mode,
                              .coordinate_transformation_mode = from,
                              .extrapolation_value = 0.5F,
                              .exclude_outside = r.chance(30) && mode == dk::resize_mode::cubic,
                              .antialias = r.chance(30) && mode != dk::resize_mode::nearest});
          if (mode == dk::resize_mode::nearest) add(n, {.mode = mode});
        }
        for (const auto rounding : {dk::nearest_rounding::prefer_lower, dk::nearest_rounding::prefer_upper,
                                    dk::nearest_rounding::lower, dk::nearest_rounding::upper})
          add(x, {.nearest_mode = rounding});
      },
      4);
}

TEST_CASE("elements and slices chosen by indices") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t n = r.between(3, 6), m = r.between(3, 9);
    const tensor x = g.input("x", f32, {n, m, 4}), k = dk::cast(x * 50.0, {.to = dk::i16});
    g.output("elements", dk::gather_elements(x * 2.0, whole(g, "i", {2, m, 3}, 2), {.axis = 0}));
    g.output("numbers", dk::gather_elements(k, whole(g, "j", {n, m, 2}, 3), {.axis = -1}));
    g.output("slices", dk::relu(dk::gather_nd(x, whole(g, "k", {2, 3, 2}, 2))));
    g.output("batches", dk::gather_nd(x, whole(g, "l", {n, 2}, 2, dk::i32), {.batch_dims = 1}));
    g.output("reversed", dk::reverse_sequence(x, dk::abs(whole(g, "lengths", {m}, 3)), {}));
    g.output("one hot", dk::one_hot(whole(g, "hot", {2, n}, 3), g.input("values", f32, {2}), {.depth = 5, .axis = 1}));
    g.output("largest", dk::arg_max(x, {.axis = 1}));
    g.output("last", dk::arg_min(dk::cast(x * 2.0, {.to = dk::i32}),
                                 {.axis = 2, .keepdims = false, .select_last_index = true}));
  });
}

TEST_CASE("made from positions, padded with a value of the run's, mirrored and repeated") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t n = r.between(2, 6), m = r.between(3, 9);
    const tensor x = g.input("x", f32, {n, m}), k = dk::cast(x * 50.0, {.to = dk::i64});
    g.output("range", dk::range(g.input("start", f32, {}), g.input("delta", f32, {}), {.count = m}) + 1.0);
    g.output("numbers", dk::range(whole(g, "s", {}, 9), whole(g, "d", {}, 4), {.count = m}));
    g.output("eye", dk::eye_like(x, {.to = f32, .k = r.between(-2, 2)}));
    g.output("upper", dk::trilu(x, {.upper = true, .k = r.between(-2, 2)}));
    g.output("lower", dk::trilu(k, {.upper = false, .k = r.between(-2, 2)}));
    for (const auto mode : {dk::pad_mode::constant, dk::pad_mode::reflect, dk::pad_mode::edge, dk::pad_mode::wrap}) {
      const dk::op::pad how{.pads = {1, -1, 1, 2}, .mode = mode, .value = 2};
      const std::string name = std::to_string(static_cast<int>(mode));
      g.output("padded" + name, dk::matmul(dk::pad(dk::exp(x), how), g.weight("w" + name, {m + 1, 2})));
      g.output("integers" + name, dk::pad(k * k, how));
    }
    g.output("given", dk::pad(x, g.input("value", f32, {1}), {.pads = {0, 2, 1, 0}}));
  });
}

TEST_CASE("windows: transposed convolutions, columns of images, norms and places in windows, neighbouring channels") {
  check_on_device(
      [](dk::builder& g, random_source& r) {
        const std::int64_t h = r.between(3, 6), w = r.between(3, 7);
        const tensor x = g.input("x", f32, {1, 4, h, w});
        g.output("transposed", dk::relu(dk::conv_transpose(x, g.weight("w", {4, 3, 3, 2}), g.weight("b", {3}),
                                                           {.strides = {2, 1}, .pads = {1, 0, 1, 1}})));
        g.output("in groups", dk::conv_transpose(x, g.weight("v", {4, 2, 2, 2}),
                                                 {.strides = {3, 2}, .dilations = {2, 1}, .group = 2}));
        g.output("norms", dk::lp_pool(x, {.kernel_shape = {3, 2}, .strides = {2, 1}, .pads = {1, 0, 1, 1}, .p = 3}));
        g.output("places", dk::max_pool_indices(x, {.kernel_shape = {2, 3}, .pads = {1, 1, 0, 1}}));
        g.output("channels", dk::lrn(x, {.size = 3}));
        const tensor columns = g.input("columns", f32, {1, 2 * 4, 9});
        g.output("image", dk::col2im(columns, {.image_shape = {4, 4}, .block_shape = {2, 2}}));
        g.output("grid", dk::affine_grid(g.input("theta", f32, {2, 2, 3}),
                                         {.size = {2, 3, h, w}, .align_corners = r.chance(50)}));
      },
      4);
}

TEST_CASE("GridSample: every mode and padding, places far outside and between") {
  const auto samples = [](dk::builder& g, random_source& r) {
    const std::int64_t h = r.between(1, 5), w = r.between(1, 6);
    const tensor x = g.input("x", f32, {2, 3, h, w}), at = g.input("grid", f32, {2, 4, 3, 2}) * 3.0;
    const tensor volume = g.input("volume", f32, {1, 2, 3, h, w}), in = g.input("places", f32, {1, 2, 2, 3, 3});
    for (const auto mode :
         {dk::grid_sample_mode::bilinear, dk::grid_sample_mode::nearest, dk::grid_sample_mode::bicubic})
      for (const auto padding : {dk::grid_padding::zeros, dk::grid_padding::border, dk::grid_padding::reflection}) {
        const std::string name = std::to_string(static_cast<int>(mode) * 3 + static_cast<int>(padding));
        const bool corners = (static_cast<int>(mode) + static_cast<int>(padding)) % 2 == 0;
        if (harness::is_thorough || corners)
          g.output("y" + name,
                   dk::grid_sample(x, at, {.mode = mode, .padding_mode = padding, .align_corners = corners}));
        if (mode == dk::grid_sample_mode::bicubic) continue;
        if (harness::is_thorough || !corners)
          g.output("z" + name, dk::grid_sample(volume, in, {.mode = mode, .padding_mode = padding}));
      }
  };
  check_on_device(samples, 1);  // PoCL compiles the volume of bilinear samples with reflections for 15 seconds
}

TEST_CASE("products of integers, less zero points") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t n = r.between(1, 5), k = r.between(1, 9), m = r.between(1, 6);
    const tensor a = whole(g, "a", {n, k}, 120, dk::i8), b = whole(g, "b", {k, m}, 90, dk::u8);
    g.output("matmul", a.owner().apply(dk::op::matmul_integer{},
                                       {a, b, whole(g, "za", {}, 5, dk::i8), whole(g, "zb", {m}, 5, dk::u8)}));
    g.output("plain", dk::matmul(dk::cast(a, {.to = dk::i64}), dk::cast(b, {.to = dk::i64})));
    g.output("conv", a.owner().apply(dk::op::conv_integer{.pads = {1, 0, 0, 1}},
                                     {whole(g, "x", {1, 2, 5, 6}, 100, dk::u8),
                                      whole(g, "w", {3, 2, 3, 2}, 100, dk::i8), whole(g, "zx", {}, 9, dk::u8)}));
  });
}

TEST_CASE("wholes in parts: elements and slices replaced, running sums") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t n = r.between(3, 6), m = r.between(3, 9);
    const tensor x = g.input("x", f32, {n, m, 4}), k = dk::cast(x * 50.0, {.to = dk::i32});
    const tensor rows = whole(g, "rows", {n, 2, 3}, 2), slices = whole(g, "slices", {5, 1}, 2),
                 elements = whole(g, "elements", {2, 7, 3}, 2);
    for (const auto how : {dk::scatter_reduction::replace, dk::scatter_reduction::plus, dk::scatter_reduction::times,
                           dk::scatter_reduction::most, dk::scatter_reduction::least}) {
      const std::string name = std::to_string(static_cast<int>(how));
      g.output("rows" + name,
               dk::scatter_elements(x, rows, g.input("u" + name, f32, {n, 2, 3}), {.axis = 1, .reduction = how}));
      g.output("slices" + name,
               dk::scatter_nd(k, slices, whole(g, "v" + name, {5, m, 4}, 9, dk::i32), {.reduction = how}));
      g.output("elements" + name, dk::scatter_nd(x, elements, g.input("w" + name, f32, {2, 7}), {.reduction = how}));
    }
    for (const bool exclusive : {false, true})
      for (const bool reverse : {false, true}) {
        const std::string name = (exclusive ? " exclusive" : "") + std::string(reverse ? " reverse" : "");
        g.output("sums" + name, dk::cum_sum(x, {.axis = 1, .exclusive = exclusive, .reverse = reverse}));
        g.output("products" + name, dk::cum_prod(k, {.axis = -1, .exclusive = exclusive, .reverse = reverse}));
      }
    g.output("remainders", dk::mod(k, whole(g, "divisors", {4}, 5, dk::i32)) +
                               dk::mod(k, whole(g, "others", {4}, 5, dk::i32), {.fmod = true}));
  });
}

TEST_CASE("extents that are symbols") {
  check_on_device([](dk::builder& g, random_source&) {
    const auto n = dk::sym("n", {1, 9}), m = dk::sym("m", {2, 9});
    const tensor x = g.input("x", f32, {1, 2, n, m});
    g.output("linear", dk::resize(x, {.scales = {1, 1, 2, 2}, .mode = dk::resize_mode::linear}));
    g.output("nearest", dk::resize(x, {.sizes = {1, 2, x.size(3), x.size(2)}, .mode = dk::resize_mode::nearest}));
    g.output("padded", dk::pad(x, {.pads = {0, 0, 1, 2, 0, 0, 1, 0}, .mode = dk::pad_mode::edge}) * 2.0);
    g.output("shape", dk::shape_of(x) + g.scalar(1, dk::i64));
    g.output("largest", dk::arg_max(x, {.axis = 3}));
    g.output("transposed", dk::conv_transpose(x, g.weight("w", {2, 3, 2, 2}), {.strides = {2, 2}}));
  });
}
