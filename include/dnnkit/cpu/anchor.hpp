// SPDX-License-Identifier: MIT
// A recipe's anchor seen from a kernel template: the operator as a constant, and its shapes as its functions ask for
// them.
#pragma once

#include <cstddef>
#include <type_traits>

#include "dnnkit/cpu/tree.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// Shapes of an anchor's inputs and output, as operator/access.hpp's context.
template <class Net, std::size_t R> struct anchor_context {
  using access = recipe_access<Net, R>;
  const kernel_call& call;
  using real = std::conditional_t<access::self.anchor_type == dtype::f64, double, float>;
  static constexpr std::size_t rank(std::size_t i) { return access::anchor_shape(i).count; }
  static constexpr std::size_t out_rank() { return access::rank; }
  constexpr index_t in(std::size_t i, std::size_t d) const { return access::bound(access::input_extent(i, d), call); }
  constexpr index_t out(std::size_t d) const { return access::bound(access::space(d), call); }
  constexpr index_t value(dim attribute) const { return access::bound(local_extent::from_attribute(attribute), call); }
};

template <class Net, std::size_t R> struct anchor_of {
  using type = typename find_operator<Net, Net::plan.stage_numbered(R).anchor.id>::type;
  static constexpr type value =
      decode<type>(Net::plan.attributes.data() + Net::plan.stage_numbered(R).anchor_attributes.first);
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
