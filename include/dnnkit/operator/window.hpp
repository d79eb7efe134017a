// SPDX-License-Identifier: MIT
// A window sliding over the spatial axes of [N, C, spatial...]: what convolution and pooling have in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/attributes.hpp"
#include "dnnkit/operator/flow.hpp"
#include "dnnkit/operator/footprint.hpp"
#include "dnnkit/operator/inference.hpp"

namespace dnnkit {

// Attributes of a sliding window over the spatial axes (Conv, pooling); an empty list means all 1 (pads: all 0).
struct window {
  int_list kernel_shape = {}, strides = {}, pads = {}, dilations = {};  // pads: begins of all axes, then ends

  constexpr std::int64_t kernel(std::size_t i) const { return kernel_shape[i]; }
  constexpr std::int64_t stride(std::size_t i) const { return strides.empty() ? 1 : strides[i]; }
  constexpr std::int64_t dilation(std::size_t i) const { return dilations.empty() ? 1 : dilations[i]; }
  constexpr std::int64_t pad_begin(std::size_t i) const { return pads.empty() ? 0 : pads[i]; }
  constexpr std::int64_t pad_end(std::size_t i) const { return pads.empty() ? 0 : pads[i + pads.size() / 2]; }
  constexpr std::int64_t reach(std::size_t i) const { return (kernel(i) - 1) * dilation(i) + 1; }
  constexpr std::int64_t taps() const {
    std::int64_t n = 1;
    for (std::int64_t k : kernel_shape) n *= k;
    return n;
  }

  // Lists of the right length and sign for `axes` spatial axes, of numbers whose products do not overflow.
  constexpr bool check(inference& c, std::size_t axes) const {
    const bool lengths = kernel_shape.size() == axes && (strides.empty() || strides.size() == axes) &&
                         (dilations.empty() || dilations.size() == axes) && (pads.empty() || pads.size() == 2 * axes);
    if (!c.require(lengths, "kernel_shape, strides, pads and dilations must fit the number of spatial axes"))
      return false;
    for (std::size_t i = 0; i < axes; ++i)
      if (!c.require(kernel(i) > 0 && stride(i) > 0 && dilation(i) > 0,
                     "kernel_shape, strides and dilations must be positive") ||
          !c.require(pad_begin(i) >= 0 && pad_end(i) >= 0, "pads must not be negative"))
        return false;
    constexpr std::int64_t most = std::int64_t{1} << 31, most_taps = std::int64_t{1} << 48;
    std::int64_t room = most_taps;
    for (std::size_t i = 0; i < axes; ++i) {
      const std::int64_t largest = std::max({kernel(i), stride(i), dilation(i), pad_begin(i), pad_end(i)});
      if (!c.require(largest < most, "kernel_shape, strides, pads and dilations must be below 2^31") ||
          !c.require((room /= kernel(i)) > 0, "a window of 2^48 elements or more is not supported"))
        return false;
    }
    return true;
  }
  // Output extent along spatial axis i; fails when the window does not fit the padded input.
  constexpr bool output_extent(inference& c, std::size_t i, extent in, bool ceil_mode, dim& result) const {
    // how far the window can move; with ceil_mode the last one may end beyond the padded input
    const extent room = in + (pad_begin(i) + pad_end(i) - reach(i) + (ceil_mode ? stride(i) - 1 : 0));
    if (c.table().range(room).max < 0) {
      text t;
      t << "a window of " << reach(i) << " does not fit a padded extent of ";
      return c.fail(t << c.table().print(in + (pad_begin(i) + pad_end(i))));
    }
    extent n = room / stride(i) + 1;
    if (ceil_mode && pad_end(i) + stride(i) > reach(i)) {
      // the last window must start inside the input or its leading padding
      const extent starts = (in + (pad_begin(i) - 1)) / stride(i) + 1;
      n.d = c.table().min(n, starts);
    }
    result = n;
    return true;
  }
  // What a position of the output needs along spatial axis i.
  constexpr axis_reach reach_along(std::size_t i) const {
    return needs::window(i + 2, stride(i), kernel(i), dilation(i), pad_begin(i));
  }
  // The taps of the window at output coordinate o along axis i: those inside an input of `extent`, first ... last - 1,
  // and how many lie inside it or its padding.
  struct taps_along {
    std::int64_t first = 0, last = 1, padded = 1;
    constexpr std::int64_t inside() const { return last - first; }
  };
  constexpr taps_along taps_at(std::size_t i, std::int64_t o, std::int64_t extent) const {
    return {taps_before(i, o, std::int64_t{0}), taps_before(i, o, extent), taps_before(i, o, extent + pad_end(i))};
  }
  // How many taps of the window at output coordinate o along axis i lie before this place of the input.
  template <class N> constexpr N taps_before(std::size_t i, const N& o, const N& place) const {
    const N distance = place - position(i, o, N(0)), step(dilation(i)), all(kernel(i));
    const N taps = (distance + step - N(1)) / step;
    return select(distance > N(0), select(taps < all, taps, all), N(0));
  }
  // Input coordinate of tap k for output coordinate o along axis i; may lie outside the input.
  template <class N> constexpr N position(std::size_t i, const N& o, const N& k) const {
    return o * N(stride(i)) + k * N(dilation(i)) - N(pad_begin(i));
  }
};

namespace detail {

// The taps first ... last - 1 of a window along an axis, which lie inside the input.
template <class N> struct tap_range { N first, last; };
// Those of the window at output coordinates o along spatial axis i; numbers where all output coordinates have the same.
template <class C, class O>
constexpr tap_range<coordinate_of<O>> taps_along(const C& c, const window& w, const O& o, std::size_t i) {
  using number = coordinate_of<O>;
  const number all(w.kernel(i)), extent = c.in(0, i + 2);
  const number end = w.position(i, c.out(i + 2) - number(1), all - number(1)) + number(1);  // of the last window
  return {w.pad_begin(i) == 0 ? number(0) : w.taps_before(i, o[i + 2], number(0)),
          is_certain(end <= extent) ? all : w.taps_before(i, o[i + 2], extent)};
}

// Calls visit(i, k) with the coordinates i = o[0], o[1], ... of each tap k of the window at output coordinates o that
// lies inside the input.
template <class C, class O>
constexpr void visit_taps(const C& c, const window& w, const O& o, O i, O k, std::size_t axis, auto& visit) {
  using number = coordinate_of<O>;
  if (axis + 2 == c.rank(0)) return visit(i, k);
  const tap_range<number> taps = taps_along(c, w, o, axis);
  for_each(c, taps.last - taps.first, [&](const number& n) {
    k[axis] = taps.first + n;
    i[axis + 2] = w.position(axis, o[axis + 2], k[axis]);
    visit_taps(c, w, o, i, k, axis + 1, visit);
  });
}
template <class C, class O> constexpr void visit_taps(const C& c, const window& w, const O& o, auto visit) {
  visit_taps(c, w, o, O{o[0], o[1]}, O{}, 0, visit);
}

// The same the other way round, for what a window spreads: visit(i, k) for each position i = o[0], o[1], ... of
// `extents` from which tap k reaches output coordinates o.
template <class C, class O>
constexpr void visit_sources(const C& c, const window& w, const auto& extents, const O& o, O i, O k, std::size_t axis,
                             auto& visit) {
  using number = coordinate_of<O>;
  if (axis == w.kernel_shape.size()) return visit(i, k);
  for_each(c, number(w.kernel(axis)), [&](const number& tap) {
    const number stride(w.stride(axis));
    const number distance = o[axis + 2] + number(w.pad_begin(axis)) - tap * number(w.dilation(axis));
    const auto is_on = both(distance >= number(0), distance % stride == number(0));
    when(c, both(is_on, distance / stride < extents(axis)), [&] {
      i[axis + 2] = distance / stride;
      k[axis] = tap;
      visit_sources(c, w, extents, o, i, k, axis + 1, visit);
    });
  });
}
template <class C, class O>
constexpr void visit_sources(const C& c, const window& w, const auto& extents, const O& o, auto visit) {
  visit_sources(c, w, extents, o, O{o[0], o[1]}, O{}, 0, visit);
}

}  // namespace detail

}  // namespace dnnkit
