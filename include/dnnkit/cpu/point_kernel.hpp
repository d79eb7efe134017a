// SPDX-License-Identifier: MIT
// The kernel of any anchor, from its definition at(): every output element computed on its own, its operands' prologues
// evaluated where it reads them.
#pragma once

#include "dnnkit/cpu/loop.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// Shapes of an anchor's inputs and output, as op/access.hpp's context.
template <class Net, std::size_t R> struct anchor_context {
  using access = recipe_access<Net, R>;
  const kernel_call& call;
  using real = std::conditional_t<access::self.anchor_type == dtype::f64, double, float>;
  static constexpr std::size_t rank(std::size_t i) { return access::anchor_shape(i).count; }
  static constexpr std::size_t out_rank() { return access::rank; }
  constexpr index_t in(std::size_t i, std::size_t d) const {
    return access::bound(Net::plan.dims[access::anchor_shape(i).first + d], call);
  }
  constexpr index_t out(std::size_t d) const { return access::bound(access::space(d), call); }
  constexpr index_t value(dim d) const { return access::bound(d, call); }
};

template <class Net, std::size_t R> struct anchor_of {
  using type = typename find_operator<Net, Net::plan.recipes[R].anchor.id>::type;
  static constexpr type value =
      decode<type>(Net::plan.attributes.data() + Net::plan.recipes[R].anchor_attributes.first);
};

template <class Net, std::size_t R> struct point_kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  using anchor = anchor_of<Net, R>;

  static constexpr std::size_t along = lane_axis<Net, R>();
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

  static constexpr kernel_entry entry{units, run, nullptr, nullptr, nullptr, nullptr, 0};
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
