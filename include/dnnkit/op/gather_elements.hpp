// SPDX-License-Identifier: MIT
// Elements and slices of a tensor chosen by another: ONNX's GatherElements, GatherND, ReverseSequence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace detail {

// indices (input 1) of data's rank (input 0) reach no further than data along the axes but `along`.
constexpr bool check_indices_fit(inference& c, std::size_t along) {
  for (std::size_t d = 0; d < c.rank(0); ++d)
    if (d != along && !c.require(c.table().range(c.table().sub(c.in(1)[d], c.in(0)[d])).min <= 0,
                                 "indices are longer than data in an axis that is not the one they count along"))
      return false;
  return true;
}
// Where in data the element of indices at o points to: extents that are symbols may not fit after all.
template <class C, class O> constexpr O position_of(const C& c, O o, std::size_t along, auto index) {
  for (std::size_t d = 0; d < c.rank(0); ++d)
    if (d == along) o[d] = position_in(c, index, c.in(0, d));
    else if (!is_certain(c.in(1, d) <= c.in(0, d))) o[d] = position_in(c, o[d], c.in(0, d));
  return o;
}

}  // namespace detail

namespace op {

// data, indices of the same rank -> indices' shape: the element whose coordinate along `axis` is the index.
struct gather_elements {
  std::int64_t axis = 0;

  static constexpr std::string_view name = "GatherElements";
  static constexpr std::string_view operands = "data, indices";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 2;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr std::array<element, 2> elements{element::common, element::index};
  static constexpr traits properties{.map = mapping::one_to_many};
  static constexpr void attributes(auto& self, auto&& visit) { visit("axis", self.axis); }

  constexpr void infer(inference& c) const {
    std::int64_t a = axis;
    if (c.normalise_axis(a, c.rank(0)) && c.require_same_rank(0, 1) &&
        detail::check_indices_fit(c, static_cast<std::size_t>(a)))
      c.out(c.type(0), c.in(1));
  }
  constexpr footprint reads(const inference& c, std::size_t input) const {
    const std::size_t rank = c.rank(0);
    return input == 1 ? footprint::same(rank)
                      : footprint::same_except(rank, axis_position(axis, rank), needs::one_chosen);
  }
  template <class O> constexpr auto at(const auto& c, const O& o, auto data, auto indices) const {
    return data(detail::position_of(c, o, axis_position(axis, c.rank(0)), indices(o)));
  }
  static constexpr dim flops(const inference&) { return 0; }
};

// data, indices [..., k] -> the slices of data whose first coordinates, behind batch_dims common ones, are the k
// numbers.
struct gather_nd {
  std::int64_t batch_dims = 0;

  static constexpr std::string_view name = "GatherND";
  static constexpr std::string_view operands = "data, indices";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 2;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr std::array<element, 2> elements{element::common, element::index};
  static constexpr traits properties{.map = mapping::one_to_many};
  static constexpr void attributes(auto& self, auto&& visit) { visit("batch_dims", self.batch_dims); }

  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 1, max_rank) || !c.require_rank(1, 1, max_rank)) return;
    const dim tuple = c.in(1)[c.rank(1) - 1];
    if (!c.require(tuple.is_known(), "the last extent of indices must be known")) return;
    const auto batch = static_cast<std::size_t>(batch_dims), fixed = batch + static_cast<std::size_t>(tuple.value());
    if (!c.require(batch_dims >= 0 && batch < c.rank(1) && fixed <= c.rank(0),
                   "batch_dims and the last extent of indices exceed data's rank"))
      return;
    if (!c.require(c.rank(1) - 1 + c.rank(0) - fixed <= max_rank, "the output's rank is more than 8")) return;
    shape s(c.in(1).begin(), c.in(1).end() - 1);
    for (std::size_t d = fixed; d < c.rank(0); ++d) s.push_back(c.in(0)[d]);
    c.out(c.type(0), s);
  }
  constexpr footprint reads(const inference& c, std::size_t input) const {
    const std::size_t outer = c.rank(1) - 1, batch = static_cast<std::size_t>(batch_dims);
    if (input == 1) return footprint::same_except(outer + 1, outer);
    const std::size_t fixed = batch + static_cast<std::size_t>(c.in(1)[outer].value());
    footprint f;
    for (std::size_t d = 0; d < c.rank(0); ++d)
      f.axes.push_back(d < batch ? needs::same(d) : d < fixed ? needs::one_chosen : needs::same(outer + d - fixed));
    return f;
  }
  template <class O> constexpr auto at(const auto& c, const O& o, auto data, auto indices) const {
    using number = coordinate_of<O>;
    const std::size_t outer = c.rank(1) - 1, batch = static_cast<std::size_t>(batch_dims),
                      fixed = c.rank(0) + outer - c.out_rank();
    O i{}, j{};
    for (std::size_t d = 0; d < outer; ++d) j[d] = o[d];
    for (std::size_t d = 0; d < batch; ++d) i[d] = o[d];
    for (std::size_t d = batch; d < fixed; ++d) {
      j[outer] = number(static_cast<std::int64_t>(d - batch));
      i[d] = position_in(c, indices(j), c.in(0, d));
    }
    for (std::size_t d = fixed; d < c.rank(0); ++d) i[d] = o[outer + d - fixed];
    return data(i);
  }
  static constexpr dim flops(const inference&) { return 0; }
};

// data, lengths [batch] -> each sequence of the batch with its first `length` elements in reverse order; for lengths
// that the sequences do not have see within().
struct reverse_sequence {
  std::int64_t time_axis = 0, batch_axis = 1;

  static constexpr std::string_view name = "ReverseSequence";
  static constexpr std::string_view operands = "data, lengths";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 2;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr std::array<element, 2> elements{element::common, element::index};
  static constexpr traits properties{.map = mapping::shuffle};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("time_axis", self.time_axis);
    visit("batch_axis", self.batch_axis);
  }

  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 2, max_rank) || !c.require_rank(1, 1, 1)) return;
    if (!c.require(time_axis + batch_axis == 1 && time_axis * batch_axis == 0,
                   "time_axis and batch_axis must be 0 and 1, or 1 and 0"))
      return;
    if (c.require_equal(c.in(1)[0], "the number of lengths", c.in(0)[static_cast<std::size_t>(batch_axis)],
                        "the extent of the batch axis"))
      c.out(c.type(0), c.in(0));
  }
  constexpr footprint reads(const inference& c, std::size_t input) const {
    const auto time = static_cast<std::size_t>(time_axis), batch = static_cast<std::size_t>(batch_axis);
    return input == 1 ? footprint{needs::same(batch)} : footprint::same_except(c.rank(0), time, needs::one_chosen);
  }
  template <class O> constexpr auto at(const auto& c, const O& o, auto data, auto lengths) const {
    using number = coordinate_of<O>;
    const auto time = static_cast<std::size_t>(time_axis), batch = static_cast<std::size_t>(batch_axis);
    const number length = within(c, lengths(O{o[batch]}), number(0), c.in(0, time), "sequence length");
    O i = o;
    i[time] = select(o[time] < length, length - number(1) - o[time], o[time]);
    return data(i);
  }
  static constexpr dim flops(const inference&) { return 0; }
};

}  // namespace op

inline constexpr function<op::gather_elements> gather_elements;
inline constexpr function<op::gather_nd> gather_nd;
inline constexpr function<op::reverse_sequence> reverse_sequence;

}  // namespace dnnkit
