// SPDX-License-Identifier: MIT
// The kernel of any anchor, from its definition at(): every output element computed on its own, its operands' prologues
// evaluated where it reads them; or several at once, along an axis where output and input move alike.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>

#include "dnnkit/cpu/anchor.hpp"
#include "dnnkit/cpu/families/element_choice.hpp"
#include "dnnkit/cpu/families/resize_kernel.hpp"
#include "dnnkit/cpu/loop.hpp"
#include "dnnkit/op/arg_reduction.hpp"
#include "dnnkit/op/gather_elements.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// The axis of input 0 whose position grows as that of output axis `along` does, while all that the anchor reads besides
// stays where it is; max_rank if there is none, or if the anchor's definition is not one of vectors.
constexpr std::size_t followed_axis(const kernel_spec& spec, std::size_t along) {
  if (spec.is_anchor<op::gather>()) {
    const std::size_t chosen = spec.anchor<op::gather>().along(spec.rank_of(0)), width = spec.rank_of(1);
    return along < chosen ? along : along >= chosen + width ? along - width + 1 : max_rank;
  }
  if (spec.is_anchor<op::gather_nd>()) {  // within its slices
    const std::size_t outer = spec.rank_of(1) - 1;
    const auto batch = static_cast<std::size_t>(spec.anchor<op::gather_nd>().batch_dims);
    return along >= outer ? along - outer + batch + static_cast<std::size_t>(spec.extent_of(1, outer).value())
                          : max_rank;
  }
  if (spec.is_anchor<op::pad>()) return along;
  if (spec.is_anchor<op::resize>()) {
    const auto resize = spec.anchor<op::resize>();
    const bool is_copy = resize.mode == resize_mode::nearest;
    return resize.keeps(along, spec.extent_of(0, along) == spec.space(along)) &&
                   (is_copy || spec.anchor_type() == dtype::f32)
               ? along
               : max_rank;
  }
  return max_rank;
}

struct by_point {
  static constexpr std::string_view name = "by_point";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.kind == form::point; }

  static constexpr kernel_match match(const kernel_spec& spec, const cpu_facts& target) {
    const std::size_t along = lane_axis(spec);
    const cpu_facts facts = copies_bytes(spec, along) ? facts_of_bytes(target) : target;
    if (is_in_vectors(spec, along)) {
      const double vectors = rows_along(spec, facts, along, true).vectors;
      const double input = tree_cost(spec, facts, along, facts.float_lanes).value(spec.input(0));
      return element_choice(spec, facts, along, true,
                            {.evaluated = vectors, .cycles = vectors * operations(spec) * (facts.costs.simple + input)},
                            "the operator's definition, on vectors");
    }
    if (spec.is_anchor<op::gather>() || spec.is_anchor<op::gather_elements>()) return copies(spec, facts, along);
    const tree_cost tree(spec, facts, along, 1);
    double inputs = 0;  // cycles of one element of each
    for (std::size_t i = 0; i < spec.inputs(); ++i) inputs += tree.value(spec.input(i));
    const double read = spec.elements() * operations(spec);
    return element_choice(spec, facts, along, false, {.evaluated = read, .cycles = read * inputs},
                          "the operator's definition, element by element");
  }

  template <class Net, std::size_t R> struct kernel;

 private:
  static constexpr bool is_in_vectors(const kernel_spec& spec, std::size_t along) {
    return !spec.is_setup() && followed_axis(spec, along) != max_rank;
  }
  // Are they bytes that Gather picks rows of?
  static constexpr bool copies_bytes(const kernel_spec& spec, std::size_t along) {
    return is_in_vectors(spec, along) && spec.is_anchor<op::gather>() && maps_bytes(spec, along) &&
           is_of_bytes(spec, spec.input(0)) && lies_in_rows(spec, spec.input(0), followed_axis(spec, along));
  }
  // What is picked by its index is not computed: compilers make vectors of such loops.
  static constexpr kernel_choice copies(const kernel_spec& spec, const cpu_facts& facts, std::size_t along) {
    const vector_rows pieces = rows_along(spec, facts, along, true);
    const double of_a_vector =
        facts.float_lanes * facts.costs.load + tree_cost(spec, facts, along, facts.float_lanes).outputs();
    kernel_choice c = element_choice(spec, facts, along, false, {}, "the operator's definition, element by element");
    c.cost = estimate(facts, {.cycles = pieces.vectors * of_a_vector,
                              .starts = pieces.rows * facts.costs.row,
                              .traffic = traffic_of(spec, facts)});
    return c;
  }
  // Elements that one of the output is computed from, about.
  static constexpr double operations(const kernel_spec& spec) {
    if (spec.is_anchor<op::conv>() || spec.is_anchor<op::conv_integer>())
      return spec.elements_of(1) / static_cast<double>(known_or_typical(spec.extent_of(1, 0)));
    if (spec.is_anchor<op::matmul>() || spec.is_anchor<op::matmul_integer>())
      return static_cast<double>(known_or_typical(spec.extent_of(0, spec.rank_of(0) - 1)));
    if (spec.is_anchor<op::arg_max>() || spec.is_anchor<op::arg_min>()) return spec.elements_of(0) / spec.elements();
    if (spec.is_anchor<op::resize>()) return std::max(1.0, lines_around(spec, spec.anchor<op::resize>(), spec.rank()));
    if (spec.is_anchor<op::max_pool>()) return static_cast<double>(spec.anchor<op::max_pool>().over().taps());
    if (spec.is_anchor<op::average_pool>()) return static_cast<double>(spec.anchor<op::average_pool>().over().taps());
    return 1;
  }
};

template <class Net, std::size_t R> struct by_point::kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  using anchor = anchor_of<Net, R>;

  static constexpr std::size_t along = access::choice.tile.along;
  static constexpr int width = access::choice.tile.lanes;

  static index_t units(const kernel_call& call) noexcept { return rows_without<Net, R>(call, along); }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    const auto [begin, end] = in_vectors(call);
    const index_t extent = access::rank == 0 ? 1 : access::bound(access::space(along), call);
    for (index_t row = first; row < last; ++row) {
      coordinates c = row_coordinates<Net, R>(call, along, row);
      compute<1>(call, c, 0, begin);
      if constexpr (width > 1) compute<width>(call, c, begin, end);
      compute<1>(call, c, end, extent);
    }
  }

 private:
  static constexpr std::size_t followed = width == 1 ? along : followed_axis(access::spec, along);
  static constexpr bool is_pad = std::is_same_v<typename anchor::type, op::pad>;
  template <int Lanes> using result = lanes<access::self.anchor_type, Lanes>;
  template <int Lanes> static constexpr bool has_masks = Lanes > 1 && access::self.anchor_type == dtype::boolean;

  // Of a row, the positions from the first to before the second are computed in vectors. Padding is read one by one.
  static std::array<index_t, 2> in_vectors(const kernel_call& call) {
    if constexpr (width == 1) return {0, 0};
    else {
      const index_t extent = access::bound(access::space(along), call);
      if constexpr (!is_pad) return {0, extent};
      else {
        const op::pad::part part = anchor::value.left(anchor_context<Net, R>{call}, along);
        const index_t begin = std::clamp<index_t>(part.begin, 0, extent);
        return {begin, std::clamp<index_t>(part.begin + part.count, begin, extent)};
      }
    }
  }

  // Anchor input I as at() calls it: by coordinates. The first moves along with the output; of others, an element.
  // Lanes of truth values are 0 or 1 there, as numbers that at() puts between them are.
  template <std::size_t I, int Lanes, class Count> struct prologue {
    const kernel_call& call;
    Count n;
    [[gnu::always_inline]] auto operator()(const coordinates& at) const {
      if constexpr (I == 0 && has_masks<Lanes>)
        return values::template evaluate<access::anchor_input(I), Lanes, followed>(call, at, n, 0) & result<Lanes>(1);
      else if constexpr (I == 0)
        return values::template evaluate<access::anchor_input(I), Lanes, followed>(call, at, n, 0);
      else return values::template evaluate<access::anchor_input(I), 1, along>(call, at, constant<1>{}, 0);
    }
  };
  template <std::size_t I, int Lanes> [[gnu::always_inline]] static auto input(const kernel_call& call, auto n) {
    if constexpr (access::anchor_input(I).from == source::nothing) return absent{};
    else return prologue<I, Lanes, decltype(n)>{call, n};
  }

  // Any anchor input as the at() of a variadic operator calls it: by its number and coordinates.
  template <std::size_t... I> struct numbered_input {
    const kernel_call& call;
    [[gnu::always_inline]] auto operator()(std::size_t number, const coordinates& at) const {
      lanes<access::self.anchor_type, 1> x(0);
      static_cast<void>(((number == I && (x = prologue<I, 1, constant<1>>{call, constant<1>{}}(at), true)) || ...));
      return x;
    }
  };

  template <int Lanes>
  [[gnu::always_inline]] static void compute(const kernel_call& call, coordinates& c, index_t first, index_t last) {
    const anchor_context<Net, R> context{call};
    for_lanes_between<Lanes, along>(c, first, last, [&](auto n) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        const auto y = [&] {
          if constexpr (is_variadic<typename anchor::type>)
            return anchor::value.at(context, c, numbered_input<I...>{call});
          else return anchor::value.at(context, c, input<I, Lanes>(call, n)...);
        }();
        if constexpr (has_masks<Lanes>) values::template finish<Lanes, along>(call, c, n, y != result<Lanes>(0));
        else values::template finish<Lanes, along>(call, c, n, converted<result<Lanes>>(y));
      }
      (std::make_index_sequence<access::anchor_inputs>{});
    });
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
