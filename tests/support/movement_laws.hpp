// SPDX-License-Identifier: MIT
// What a movement operator says of itself three times, compared: at() element by element, forward() and backward() as
// views.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>

#include "dnnkit/operator/op_info.hpp"
#include "tests/support/positions.hpp"

namespace movement_laws {

using namespace positions;

struct context {
  index_list input, output;
  using real = double;
  std::size_t rank(std::size_t) const { return input.size(); }
  std::int64_t in(std::size_t, std::size_t d) const { return input[d]; }
  std::size_t out_rank() const { return output.size(); }
  std::int64_t out(std::size_t d) const { return output[d]; }
  std::int64_t value(dnnkit::dim d) const { return d.value(); }
};

inline dnnkit::coordinates to_coordinates(const index_list& c) {
  dnnkit::coordinates r{};
  for (std::size_t i = 0; i < c.size(); ++i) r[i] = c[i];
  return r;
}

// How often forward() and backward() gave a view.
struct outcome {
  std::size_t forward = 0, backward = 0, refused = 0;
};

// For an input of these extents stored in a random order: forward()'s view puts output coordinates o where at() reads
// them; backward() of a view of the output puts at()'s input coordinates where o was.
template <class Op> void check(const Op& op, const index_list& in, generator& random, outcome& result) {
  symbol_table t;
  dnnkit::view_algebra algebra(t);
  dnnkit::inference inference(t);
  const dnnkit::tensor_type type{dnnkit::f32, to_shape(in)};
  inference.add_input(type);
  dnnkit::detail::infer_of(op, inference);
  REQUIRE(inference.error().str() == "");
  const shape in_shape = to_shape(in), out_shape = inference.outputs()[0].dims;
  const context c{in, extents(t, out_shape, {})};
  const dnnkit::movement m{algebra, in_shape, out_shape};
  // the input coordinates that at() reads, as one number
  const auto source = [&](const index_list& o) {
    return op.at(c, to_coordinates(o), [&](const dnnkit::coordinates& i) {
      std::int64_t n = 0;
      for (std::size_t d = 0; d < in.size(); ++d) {
        CHECK(i[d] >= 0);
        CHECK(i[d] < in[d]);
        n = n * in[d] + i[d];
      }
      return n;
    });
  };

  const view input = algebra.dense(in_shape, random.permutation(in.size()), in_shape);
  if (view v = input; op.forward(m, v)) {
    ++result.forward;
    for_each(c.output,
             [&](const index_list& o) { CHECK(position(t, v, o) == position(t, input, unflat(source(o), in))); });
  } else {
    ++result.refused;
    CHECK(v == input);
  }
  if constexpr (dnnkit::detail::has_inverse_view<Op>) {
    const view output = algebra.dense(out_shape, random.permutation(out_shape.size()), out_shape);
    if (view v = output; op.backward(m, v)) {
      ++result.backward;
      for_each(c.output,
               [&](const index_list& o) { CHECK(position(t, v, unflat(source(o), in)) == position(t, output, o)); });
    } else {
      ++result.refused;
      CHECK(v == output);
    }
    // backward() undoes forward()
    if (view v = input; op.forward(m, v) && op.backward(m, v))
      for_each(in, [&](const index_list& i) { CHECK(position(t, v, i) == position(t, input, i)); });
  }
}

}  // namespace movement_laws
