// SPDX-License-Identifier: MIT
// The kernel of any anchor, from its definition at(): every output element computed on its own, its operands' prologues
// evaluated where it reads them.
#pragma once

#include <string_view>

#include "dnnkit/cpu/anchor.hpp"
#include "dnnkit/cpu/families/element_choice.hpp"
#include "dnnkit/cpu/loop.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct by_point {
  static constexpr std::string_view name = "by_point";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.kind == form::point; }

  static constexpr kernel_match match(const kernel_spec& spec, const cpu_facts& facts) {
    const std::size_t along = lane_axis(spec);
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
  static constexpr int width = 1;

  static index_t units(const kernel_call& call) noexcept { return rows_without<Net, R>(call, along); }

  // Anchor input I as at() calls it: by coordinates.
  template <std::size_t I, class Count> struct prologue {
    const kernel_call& call;
    Count n;
    [[gnu::always_inline]] auto operator()(const coordinates& at) const {
      return values::template evaluate<access::anchor_input(I), width, along>(call, at, n, 0);
    }
  };
  template <std::size_t I> [[gnu::always_inline]] static auto input(const kernel_call& call, auto n) {
    if constexpr (access::anchor_input(I).from == source::nothing) return absent{};
    else return prologue<I, decltype(n)>{call, n};
  }

  // Any anchor input as the at() of a variadic operator calls it: by its number and coordinates.
  template <class Count, std::size_t... I> struct numbered_input {
    const kernel_call& call;
    Count n;
    [[gnu::always_inline]] auto operator()(std::size_t number, const coordinates& at) const {
      lanes<access::self.anchor_type, width> x(0);
      static_cast<void>(((number == I && (x = prologue<I, Count>{call, n}(at), true)) || ...));
      return x;
    }
  };

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    const anchor_context<Net, R> context{call};
    const index_t extent = access::rank == 0 ? 1 : access::bound(access::space(along), call);
    for (index_t row = first; row < last; ++row) {
      coordinates c = row_coordinates<Net, R>(call, along, row);
      for_lanes<width, along>(c, extent, [&](auto n) {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
          using result = lanes<access::self.anchor_type, width>;
          const auto y = [&] {
            if constexpr (is_variadic<typename anchor::type>)
              return anchor::value.at(context, c, numbered_input<decltype(n), I...>{call, n});
            else return anchor::value.at(context, c, input<I>(call, n)...);
          }();
          values::template finish<width, along>(call, c, n, converted<result>(y));
        }
        (std::make_index_sequence<access::anchor_inputs>{});
      });
    }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
