// SPDX-License-Identifier: MIT
// The kernel of operators that compute their output as a whole (form::whole): one unit of work, which runs the
// operator's compute() on the stored operands, seen as row-major through their views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dnnkit/cpu/anchor.hpp"
#include "dnnkit/cpu/families/element_choice.hpp"
#include "dnnkit/cpu/families/recurrent_spec.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct whole_operator {
  static constexpr std::string_view name = "whole_operator";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.kind == form::whole; }

  static constexpr kernel_match match(const kernel_spec& spec, const cpu_facts& facts) {
    return element_choice(spec, facts, lane_axis(spec), false,
                          {.evaluated = spec.elements() + recurrent_products(spec)},
                          "the operator computes its output as a whole");
  }

  template <class Net, std::size_t R> struct kernel;
};

template <class Net, std::size_t R> struct whole_operator::kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  using anchor = anchor_of<Net, R>;
  using Op = typename anchor::type;
  static_assert(access::outputs == 1, "dnnkit: an operator that computes its output as a whole is a kernel of its own");

  struct context : anchor_context<Net, R> {
    typename anchor_context<Net, R>::real* workspace() const {
      return reinterpret_cast<typename anchor_context<Net, R>::real*>(this->call.scratch);
    }
  };

  // Input I as compute() sees it.
  template <std::size_t I> struct input {
    const context& c;
    static constexpr bool present() {
      return I < access::anchor_inputs && access::anchor_input(I).from != source::nothing;
    }
    auto operator()(const coordinates& at) const {
      return values::template evaluate<access::anchor_input(I), 1, 0>(c.call, at, constant<1>{}, 0);
    }
    auto operator[](index_t i) const {
      if constexpr (is_in_order()) {
        constexpr recipe_load l = access::template load<self.index>;
        return static_cast<computed<l.type>>(
            values::template pointer<self.index>(c.call)[extent_value<l.offset>(c.call) + i]);
      } else {
        return (*this)(input_coordinates(c, I, i));
      }
    }

   private:
    static constexpr operand_ref self = present() ? access::anchor_input(I) : operand_ref{};
    static constexpr bool is_in_order() {
      return self.from == source::load &&
             is_row_major(access::spec, access::spec.load(self.index), access::spec.rank_of(I),
                          [](std::size_t d) { return access::input_extent(I, d); });
    }
  };
  // One that is left out has elements too, which no operator reads.
  struct left_out {
    static constexpr bool present() { return false; }
    float operator()(const coordinates&) const { return 0; }
    float operator[](index_t) const { return 0; }
  };
  template <std::size_t I> static auto input_of(const context& c) {
    if constexpr (input<I>::present()) return input<I>{c};
    else return left_out{};
  }
  // All inputs of a variadic operator.
  template <std::size_t... I> struct numbered_input {
    const context& c;
    auto operator()(std::size_t number, const coordinates& at) const {
      decltype(input<0>{c}(at)) x{};
      static_cast<void>(((number == I && (x = input<I>{c}(at), true)) || ...));
      return x;
    }
  };

  struct output {
    const context& c;
    static constexpr recipe_output self = access::template output<0>;
    using stored = element<self.type>;

    static constexpr bool is_in_order =
        is_row_major(access::spec, self, access::rank, [](std::size_t d) { return access::space(d); });

    stored* at(index_t i) const {
      auto* base = reinterpret_cast<stored*>(c.call.operands[self.operand]);
      if constexpr (is_in_order) return base + extent_value<self.offset>(c.call) + i;
      else return base + view_address<Net, self.axes, self.offset>(c.call, output_coordinates(c, i));
    }
    auto load(index_t i) const { return static_cast<computed<self.type>>(*at(i)); }
    void store(index_t i, auto x) const { *at(i) = static_cast<stored>(converted<computed<self.type>>(x)); }
  };

  static index_t units(const kernel_call&) noexcept { return 1; }

  static std::int64_t scratch_bytes(const kernel_call& call) noexcept {
    const context c{{call}};
    if constexpr (requires { anchor::value.workspace(c); })
      return anchor::value.workspace(c) * static_cast<std::int64_t>(sizeof(typename context::real));
    else return 0;
  }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    if (first == last) return;
    const context c{{call}};
    if constexpr (is_variadic<Op>) [&]<std::size_t... I>(std::index_sequence<I...>) {
        compute_output(anchor::value, c, output{c}, numbered_input<I...>{c});
      }
    (std::make_index_sequence<access::anchor_inputs>{});
    else[&]<std::size_t... I>(std::index_sequence<I...>) {
      compute_output(anchor::value, c, output{c}, input_of<I>(c)...);
    }
    (std::make_index_sequence<most_inputs<Op>()>{});
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
