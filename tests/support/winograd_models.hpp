// SPDX-License-Identifier: MIT
// What tests of Winograd's convolutions in networks share: images of known and symbolic sizes, convolutions with a
// bias, and the check of outputs.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/support/compiled.hpp"

namespace harness {

namespace dk = dnnkit;

// At most so much of the largest output, for each of some layers, of which one reads what another has done.
inline constexpr double largest_winograd_error = 6e-6;

constexpr dk::tensor convolution(dk::builder& g, dk::tensor x, std::string_view name, std::int64_t out,
                                 std::int64_t taps_h, std::int64_t taps_w, dk::op::conv a = {}) {
  const std::int64_t in = x.size(1).value() / a.group;
  return dk::conv(x, g.weight(name, ".weight", {out, in, taps_h, taps_w}), g.weight(name, ".bias", {out}), a);
}
constexpr dk::tensor convolution(dk::builder& g, dk::tensor x, std::string_view name, std::int64_t out,
                                 dk::op::conv a = {.pads = {1, 1, 1, 1}}) {
  return convolution(g, x, name, out, 3, 3, a);
}

template <std::int64_t Images, std::int64_t Height, std::int64_t Width> struct sized {
  static constexpr dk::tensor image(dk::builder& g, std::int64_t channels, std::string_view name = "x") {
    return g.input(name, dk::f32, {Images, channels, Height, Width});
  }
};
template <std::int64_t Least, std::int64_t Most> struct symbolic_within {
  static constexpr dk::tensor image(dk::builder& g, std::int64_t channels, std::string_view name = "x") {
    return g.input(name, dk::f32,
                   {dk::sym("N", {1, 3}), channels, dk::sym("H", {Least, Most}), dk::sym("W", {Least, Most})});
  }
};

// Its outputs against the reference evaluator's, for several data.
template <class Model> void check_outputs(const char* name, double allowed = largest_winograd_error) {
  const compiled_network network = compiled_by_rules<Model>(name);
  for (const std::uint64_t seed : seeds(1, 3)) {
    const std::string wrong = compiled_error(network, seed, allowed);
    CHECK_MESSAGE(wrong.empty(), wrong << ", data of seed " << seed);
  }
}

}  // namespace harness
