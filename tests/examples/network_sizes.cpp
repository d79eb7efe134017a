// SPDX-License-Identifier: MIT
// OPTIONS: -O1
// One compiled super-resolution network at several sizes, against the reference evaluator.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "dnnkit/graph.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/reference/operators_of.hpp"
#include "dnnkit/weights/host_weights.hpp"
#include "tests/support/models.hpp"

namespace dk = dnnkit;
using net = dk::compile<models::wdsr>;
static_assert(net::kernels <= 27);

namespace {

constexpr double tolerance = 2e-5;  // of values from 0 to 1, after 27 convolutions in single precision
constexpr std::size_t radius =
    10;  // of the pixels that a pixel of the result depends on: ten 3x3 convolutions in a row

const dk::packed_weights<net>& weights() {
  static const dk::packed_weights<net> w(dk::safetensors(DNNKIT_ASSETS "/wdsr_x2.safetensors"));
  return w;
}

// Three planes.
struct planes {
  std::size_t height, width;
  std::vector<float> samples = std::vector<float>(3 * height * width);
  float& at(std::size_t c, std::size_t y, std::size_t x) { return samples[(c * height + y) * width + x]; }
  float at(std::size_t c, std::size_t y, std::size_t x) const { return samples[(c * height + y) * width + x]; }
};

planes random_planes(std::size_t height, std::size_t width, unsigned seed) {
  planes p{height, width};
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> sample(0, 1);
  for (float& s : p.samples) s = sample(random);
  return p;
}

planes run(const planes& in) {
  static dk::session<net> session(weights());  // the same for all sizes, one after the other
  planes out{2 * in.height, 2 * in.width};
  session.bind({{"H", static_cast<std::int64_t>(in.height)}, {"W", static_cast<std::int64_t>(in.width)}});
  session.run(in.samples, out.samples);
  return out;
}

planes evaluated(const planes& in) {
  static const dk::safetensors file(DNNKIT_ASSETS "/wdsr_x2.safetensors");
  static const dk::graph graph = dk::graph_of<models::wdsr>();
  dk::host_tensor x(dk::f32, {1, 3, static_cast<std::int64_t>(in.height), static_cast<std::int64_t>(in.width)});
  std::copy(in.samples.begin(), in.samples.end(), x.reals.begin());
  planes out{2 * in.height, 2 * in.width};
  std::ranges::transform(dk::evaluate<dk::operators_of<models::wdsr>>(graph, {x}, dk::weights_of(file))[0].reals,
                         out.samples.begin(), [](double s) { return static_cast<float>(s); });
  return out;
}

double distance(const planes& a, const planes& b) {
  REQUIRE(a.samples.size() == b.samples.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.samples.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(a.samples[i]) - static_cast<double>(b.samples[i])));
  return worst;
}

// The same for pixels (y, x) ... (y + size, x + size) of the input, doubled, by evaluating those and what they depend
// on.
double distance_in(const planes& in, const planes& out, std::size_t y, std::size_t x, std::size_t size) {
  const std::size_t top = y < radius ? 0 : y - radius, left = x < radius ? 0 : x - radius;
  planes part{std::min(in.height, y + size + radius) - top, std::min(in.width, x + size + radius) - left};
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < part.height; ++i)
      for (std::size_t j = 0; j < part.width; ++j) part.at(c, i, j) = in.at(c, top + i, left + j);
  const planes expected = evaluated(part);
  double worst = 0;
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = 2 * y; i < 2 * (y + size); ++i)
      for (std::size_t j = 2 * x; j < 2 * (x + size); ++j)
        worst = std::max(worst, std::abs(static_cast<double>(out.at(c, i, j)) -
                                         static_cast<double>(expected.at(c, i - 2 * top, j - 2 * left))));
  return worst;
}

}  // namespace

TEST_CASE("small sizes, whole") {
  for (const auto& [height, width] :
       {std::pair(1, 1), std::pair(7, 13), std::pair(13, 7), std::pair(1, 40), std::pair(2, 3)}) {
    CAPTURE(height);
    CAPTURE(width);
    const planes in = random_planes(static_cast<std::size_t>(height), static_cast<std::size_t>(width), 1);
    CHECK(distance(run(in), evaluated(in)) < tolerance);
  }
}

TEST_CASE("640x480: corners, edges and inside") {
  const planes in = random_planes(480, 640, 2);
  const planes out = run(in);
  constexpr std::size_t size = 3;
  for (const auto& [y, x] : {std::pair(0, 0), std::pair(0, 637), std::pair(477, 0), std::pair(477, 637),
                             std::pair(211, 0), std::pair(0, 317), std::pair(240, 331)}) {
    CAPTURE(y);
    CAPTURE(x);
    CHECK(distance_in(in, out, static_cast<std::size_t>(y), static_cast<std::size_t>(x), size) < tolerance);
  }
}

TEST_CASE("the check sees a wrong pixel") {
  planes in = random_planes(30, 40, 3);
  planes out = run(in);
  CHECK(distance_in(in, out, 12, 15, 2) < tolerance);
  out.at(1, 2 * 13, 2 * 16) += 0.001f;
  CHECK(distance_in(in, out, 12, 15, 2) > tolerance);
}

TEST_CASE("a size gives the same bits again after other sizes") {
  const planes in = random_planes(9, 33, 4);
  const planes first = run(in);
  run(random_planes(40, 20, 5));
  run(random_planes(1, 1, 6));
  CHECK(run(in).samples == first.samples);
}
