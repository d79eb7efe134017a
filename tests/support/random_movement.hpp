// SPDX-License-Identifier: MIT
// Operators of random graphs that move elements: movement, and Concat, Pad, Gather and Resize.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "tests/support/random_elementwise.hpp"

class random_movement : protected random_elementwise {
 protected:
  using random_elementwise::random_elementwise;

  constexpr void move() {
    const entry e = any_type();
    if (!e.t.present()) return;
    const tensor x = e.t;
    const std::size_t n = rank(x);
    const auto axis = static_cast<std::int64_t>(n == 0 ? 0 : r_.below(n));
    switch (r_.below(12)) {
      case 0:
      case 1:
        return reshape(e);
      case 2:
      case 3: {
        dnnkit::int_list perm;
        for (std::size_t d = 0; d < n; ++d) perm.insert(r_.below(perm.size() + 1), static_cast<std::int64_t>(d));
        return add(dnnkit::transpose(x, {.perm = perm}), e.exact);
      }
      case 4:
        if (n == 0) return;
        return add(dnnkit::flatten(x, {.axis = r_.between(0, static_cast<std::int64_t>(n))}), e.exact);
      case 5:
        if (n < 5) return add(dnnkit::unsqueeze(x, {.axes = {r_.between(0, static_cast<std::int64_t>(n))}}), e.exact);
        return add(dnnkit::squeeze(x), e.exact);
      case 6: {
        const std::int64_t channels = n == 4 ? least(x.dims()[1]) : 0;
        if (n != 4) return add(dnnkit::identity(x), e.exact);
        if (channels % 4 == 0 && x.dims()[1].is_known())
          return add(
              dnnkit::depth_to_space(x, {2, static_cast<decltype(dnnkit::op::depth_to_space::mode)>(r_.between(0, 1))}),
              e.exact);
        return;
      }
      case 7: {
        if (n != 4) return;
        const dim h = x.dims()[2], w = x.dims()[3];
        if (h.is_known() && w.is_known() && h.value() % 2 == 0 && w.value() % 2 == 0)
          return add(dnnkit::space_to_depth(x, {2}), e.exact);
        return;
      }
      case 8: {
        if (n == 0 || least(x.size(axis)) < 3) return;
        const std::int64_t step = r_.chance(30) ? 2 : r_.chance(15) ? -1 : 1;
        const std::int64_t begin = r_.between(0, 1), end = r_.chance(50) ? -1 : least(x.size(axis));
        const dnnkit::op::slice s = step > 0 ? dnnkit::op::slice{{begin}, {end}, {axis}, {step}}
                                             : dnnkit::op::slice{{-1}, {-std::int64_t{1} << 40}, {axis}, {step}};
        return add(dnnkit::slice(x, s), e.exact);
      }
      case 9: {
        if (n == 0 || least(x.size(axis)) < 2) return;
        const std::int64_t size = r_.between(1, least(x.size(axis)) - 1);
        add(dnnkit::narrow(x, axis, 0, size), e.exact);
        if (!r_.chance(50)) return;
        return add(dnnkit::narrow(x, axis, size, b_.value().symbols.add(x.size(axis), -size)), e.exact);
      }
      case 10: {
        shape s = x.dims();
        bool grows = false;
        for (dim& d : s)
          if (d == dim(1) && r_.chance(70)) d = 3, grows = true;
        if (n < 5 && r_.chance(40)) s.insert(0, 2), grows = true;
        if (!grows || most_count(s) > most_elements) return;
        return add(b_.apply(dnnkit::op::expand{s}, {x}), e.exact);
      }
      default: {
        dnnkit::int_list repeats;
        for (std::size_t d = 0; d < n; ++d) repeats.push_back(r_.chance(35) ? 2 : 1);
        if (most_count(x.dims()) * 4 > most_elements) return;
        return add(dnnkit::tile(x, {repeats}), e.exact);
      }
    }
  }
  // Neighbouring extents merged, and known ones split.
  constexpr void reshape(const entry& e) {
    shape s;
    for (dim d : e.t.dims()) {
      if (!s.empty() && r_.chance(40)) s[s.size() - 1] = b_.value().symbols.mul(s[s.size() - 1], d);
      else s.push_back(d);
    }
    for (std::size_t d = 0; d < s.size() && s.size() < 5; ++d)
      for (std::int64_t f : {5, 4, 3, 2})
        if (s[d].is_known() && s[d].value() % f == 0 && s[d].value() > f && r_.chance(40)) {
          s[d] = s[d].value() / f;
          s.insert(d, f);
          break;
        }
    if (s.size() == 1 && r_.chance(50)) s.push_back(1);
    add(b_.apply(dnnkit::op::reshape{s}, {e.t}), e.exact);
  }

  constexpr void sample() {
    const entry e = any_type(1);
    if (!e.t.present()) return;
    const tensor x = e.t;
    const std::size_t n = rank(x);
    const auto axis = static_cast<std::int64_t>(r_.below(n));
    switch (r_.below(5)) {
      case 0: {
        if (most_count(x.dims()) * 2 > most_elements) return;
        dnnkit::vector<tensor> parts{x};
        bool exact = e.exact;
        for (int tries = 0; tries < 6 && parts.size() < 3; ++tries) {
          const entry f = any(x.type(), n, n);
          if (!f.t.present()) continue;
          shape a = f.t.dims(), b = x.dims();
          a[static_cast<std::size_t>(axis)] = b[static_cast<std::size_t>(axis)] = 0;
          if (a == b) {
            parts.push_back(f.t);
            exact = exact && f.exact;
          }
        }
        if (parts.size() == 1) parts.push_back(x);
        return add(dnnkit::concat(parts, {axis}), exact);
      }
      case 1: {
        const auto mode = r_.pick({dnnkit::pad_mode::constant, dnnkit::pad_mode::reflect, dnnkit::pad_mode::edge});
        dnnkit::int_list pads;
        std::int64_t larger = 1;
        for (std::size_t i = 0; i < 2 * n; ++i) {
          const dim d = x.dims()[i % n];
          const bool fits = mode != dnnkit::pad_mode::reflect || least(d) > 2;
          pads.push_back(fits && r_.chance(40) ? r_.between(1, 2) : 0);
          larger *= pads.back() + 1;
        }
        if (most_count(x.dims()) * larger > 3 * most_elements) return;
        const float value = x.type() == dnnkit::f32 ? 0.5f : 1;
        return add(dnnkit::pad(x, {pads, mode, value}), e.exact);
      }
      case 2: {
        const std::int64_t extent = least(x.size(axis));
        if (extent < 1) return;
        dnnkit::vector<double> rows;
        const std::int64_t wanted = r_.between(1, 6);
        for (std::int64_t i = 0; i < wanted; ++i) rows.push_back(static_cast<double>(r_.between(-extent, extent - 1)));
        const bool scalar = wanted == 1 && r_.chance(50);
        const tensor indices = b_.constant(rows, scalar ? shape{} : shape{wanted}, dnnkit::i64);
        return add(dnnkit::gather(x, indices, {axis}), e.exact);
      }
      default: {
        if (x.type() != dnnkit::f32 || most_count(x.dims()) * 4 > most_elements || n < 2) return;
        dnnkit::float_list scales;
        for (std::size_t d = 0; d < n; ++d) scales.push_back(d < 2 && n > 2 ? 1.0f : r_.pick({1.0f, 2.0f, 0.5f, 1.5f}));
        dnnkit::op::resize a{.scales = scales};
        for (std::size_t d = 0; d < n; ++d)
          if (least(x.dims()[d]) < 4) return;
        a.mode = r_.chance(50) ? dnnkit::resize_mode::nearest : dnnkit::resize_mode::linear;
        a.coordinate_transformation_mode =
            r_.pick({dnnkit::coordinate_mode::half_pixel, dnnkit::coordinate_mode::asymmetric});
        return add(dnnkit::resize(x, a), e.exact && a.mode == dnnkit::resize_mode::nearest);
      }
    }
  }
};
