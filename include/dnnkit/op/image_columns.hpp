// SPDX-License-Identifier: MIT
// Images from their windows, and grids of places in them: ONNX's Col2Im, AffineGrid, CenterCropPad.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/pad.hpp"
#include "dnnkit/op/slice.hpp"
#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/scalar.hpp"
#include "dnnkit/operator/window.hpp"

namespace dnnkit {

namespace op {

// x [N, C taps, windows] -> [N, C, image_shape...]: every window's elements added where they lie in the image.
struct col2im {
  int_list image_shape = {}, block_shape = {}, dilations = {}, pads = {}, strides = {};

  static constexpr std::string_view name = "Col2Im";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{.map = mapping::many_to_many, .dynamic = dynamism::isvdos};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("image_shape", self.image_shape);
    visit("block_shape", self.block_shape);
    visit("dilations", self.dilations);
    visit("pads", self.pads);
    visit("strides", self.strides);
  }

  constexpr window over() const { return {block_shape, strides, pads, dilations}; }
  // Windows along spatial axis i.
  constexpr std::int64_t windows(std::size_t i) const {
    const window w = over();
    return (image_shape[i] + w.pad_begin(i) + w.pad_end(i) - w.reach(i)) / w.stride(i) + 1;
  }
  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 3, 3) || !over().check(c, image_shape.size())) return;
    extent all = c.number(std::int64_t{1});
    for (std::size_t i = 0; i < image_shape.size(); ++i) {
      constexpr std::int64_t most = std::int64_t{1} << 48;
      if (!c.require(image_shape[i] >= 0 && image_shape[i] <= most && windows(i) > 0, "a block does not fit the image"))
        return;
      all = all * windows(i);
    }
    const dim channels = c.table().exact_div(c.in(0)[1], dim(over().taps()));
    if (!c.require(!channels.is_unknown(), "the elements of a block do not divide the second extent") ||
        !c.require_equal(c.in(0)[2], "the number of windows", all, "that of the image"))
      return;
    shape s{c.in(0)[0], channels};
    for (std::int64_t n : image_shape) s.push_back(n);
    c.out(c.type(0), s);
  }
  constexpr footprint reads(const inference&, std::size_t) const {
    return {needs::same(0), needs::grouped(1, 1, over().taps()), needs::some_chosen};
  }
  template <class C, class O> constexpr auto at(const C& c, const O& o, auto x) const {
    using number = coordinate_of<O>;
    using sum_type = sum_of<C, decltype(x(o))>;
    const window w = over();
    const auto count = [this](std::size_t axis) { return number(windows(axis)); };
    auto sum = variable(c, output_element<sum_type>(c, 0));
    detail::visit_sources(c, w, count, o, [&](const O& i, const O& k) {
      number tap(0), place(0);
      for (std::size_t d = 0; d < image_shape.size(); ++d) {
        tap = tap * number(w.kernel(d)) + k[d];
        place = place * count(d) + i[d + 2];
      }
      const O from{o[0], o[1] * number(w.taps()) + tap, place};
      assign(c, sum, plus_product(sum, static_cast<sum_type>(x(from)), output_element<sum_type>(c, 1)));
    });
    return sum;
  }
};

// theta [N, 2, 3] or [N, 3, 4], one affine map an image -> [N, size..., 2 or 3]: where each element of an image of
// extents `size` (N, C, spatial...) comes from, in the coordinates of GridSample.
struct affine_grid {
  shape size = {};
  bool align_corners = false;

  static constexpr std::string_view name = "AffineGrid";
  static constexpr std::string_view operands = "theta";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 1;
  static constexpr traits properties{.map = mapping::many_to_many, .dynamic = dynamism::isvdos};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("size", self.size);
    visit("align_corners", self.align_corners);
  }

  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 3, 3) || !c.require(size.size() == 4 || size.size() == 5, "size must name 4 or 5 extents"))
      return;
    for (dim d : size)
      if (!c.require_extent(d, "an extent of size")) return;
    const auto axes = static_cast<std::int64_t>(size.size()) - 2;
    if (!c.require_equal(c.in(0)[0], "the number of maps", size[0], "that of images") ||
        !c.require_equal(c.in(0)[1], "the rows of a map", axes, "the number of spatial axes") ||
        !c.require_equal(c.in(0)[2], "the columns of a map", axes + 1, "one more than the spatial axes"))
      return;
    shape s{size[0]};
    for (std::size_t d = 2; d < size.size(); ++d) s.push_back(size[d]);
    s.push_back(axes);
    c.out(c.type(0), s);
  }
  constexpr footprint reads(const inference& c, std::size_t) const {
    return {needs::same(0), needs::same(c.outputs()[0].dims.size() - 1), needs::whole};
  }
  template <class C, class O> constexpr auto at(const C& c, const O& o, auto theta) const {
    using number = coordinate_of<O>;
    using real = typename C::real;
    const std::size_t axes = c.out_rank() - 2;
    const auto of_map = [&](std::size_t column) {
      return static_cast<real>(theta(O{o[0], o[axes + 1], number(static_cast<std::int64_t>(column))}));
    };
    real sum = of_map(axes);
    for (std::size_t k = 0; k < axes; ++k) {  // x is the last spatial axis
      const real n(as_real(c.out(axes - k))), i(as_real(o[axes - k])), one(1), two(2);
      const real steps = select(n > one, n - one, one);
      const real place = align_corners ? select(n > one, two * i / steps - one, real(0)) : (two * i + one) / n - one;
      sum = sum + of_map(k) * place;
    }
    return sum;
  }
};

// The middle of x along `axes` (empty: the first ones), cut to the extents `target` or continued by zeros.
struct center_crop_pad {
  int_list target = {}, axes = {};

  static constexpr std::string_view name = "CenterCropPad";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 1;
  static constexpr traits properties{.map = mapping::one_to_many, .dynamic = dynamism::isvdos};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("target", self.target);
    visit("axes", self.axes);
  }

  constexpr std::size_t axis(std::size_t k, std::size_t rank) const {
    return axes.empty() ? k : axis_position(axes[k], rank);
  }
  constexpr void infer(inference& c) const {
    const std::size_t count = axes.empty() ? c.rank(0) : axes.size();
    if (!c.require(target.size() == count, "shape must name one extent for each axis") || !check_axes(c, axes)) return;
    shape s = c.in(0);
    for (std::size_t k = 0; k < count; ++k) {
      dim& d = s[axis(k, c.rank(0))];
      if (!c.require(d.is_known() && target[k] >= 0, "extents must be known")) return;
      d = target[k];
    }
    c.out(c.type(0), s);
  }
  template <class T> constexpr T expand(const vector<T>& in) const {
    T x = in[0];
    const auto rank = static_cast<std::size_t>(x.rank());
    slice cut;
    int_list pads = int_list::filled(2 * rank, 0);
    bool grows = false;
    for (std::size_t k = 0; k < target.size(); ++k) {
      const std::size_t d = axis(k, rank);
      const std::int64_t n = x.dims()[d].value(), wanted = target[k];
      if (wanted < n) {
        cut.starts.push_back((n - wanted) / 2);
        cut.ends.push_back((n - wanted) / 2 + wanted);
        cut.axes.push_back(static_cast<std::int64_t>(d));
      } else if (wanted > n) {
        pads[d] = (wanted - n) / 2;
        pads[d + rank] = wanted - n - pads[d];
        grows = true;
      }
    }
    if (!cut.axes.empty()) x = x.owner().apply(cut, {x});
    if (grows) x = x.owner().apply(pad{.pads = pads}, {x});
    return x.id() == in[0].id() ? dnnkit::identity(x) : x;
  }
};

}  // namespace op

inline constexpr function<op::col2im> col2im;
inline constexpr function<op::affine_grid> affine_grid;
inline constexpr function<op::center_crop_pad> center_crop_pad;

}  // namespace dnnkit
