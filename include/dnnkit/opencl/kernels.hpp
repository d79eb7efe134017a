// SPDX-License-Identifier: MIT
// From recipes to OpenCL C: the family each recipe belongs to, and the texts of a network's kernels as constants of the
// program. The same functions write the kernels of a plan that is made at run time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "dnnkit/compile.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/opencl/attention.hpp"
#include "dnnkit/opencl/choose_family.hpp"
#include "dnnkit/opencl/concat.hpp"
#include "dnnkit/opencl/grouped_rows.hpp"
#include "dnnkit/opencl/map.hpp"
#include "dnnkit/opencl/normalised_operand.hpp"
#include "dnnkit/opencl/point.hpp"
#include "dnnkit/opencl/row.hpp"
#include "dnnkit/opencl/target.hpp"
#include "dnnkit/opencl/whole.hpp"

namespace dnnkit::opencl {

// A kernel in OpenCL C, called k and its number in the plan's recipes, which needs `prelude` before it.
struct kernel_text {
  std::string_view source;
  work_size work;
};

namespace detail {

// Why no kernel can be made of recipe r of a plan, whatever its operators; empty when one can.
constexpr std::string_view problem_of_recipe(const plan_view& plan, std::size_t r) {
  constexpr std::int64_t most = std::int64_t{1} << 31;  // coordinates and positions are of type int
  const work_size space = work_size::of(plan.extents_of(plan.recipes[r].space), [](std::size_t) { return true; });
  std::int64_t elements = space.known;  // symbols are looked at when they have values
  for (const buffer& b : plan.buffers)
    if (b.elements.is_known()) elements = elements < b.elements.value() ? b.elements.value() : elements;
  return elements < most ? "" : "kernels for OpenCL count fewer than 2^31 elements";
}

// Writes the kernel of an anchor for which there is a family of kernels of reals; false where there is none.
template <class Set> constexpr bool write_of_reals(recipe_writer<Set>& w, accuracy allowed) {
  return write_chosen_family(w, choose_family(w, allowed)) || write_grouped_rows(w) || write_rows(w);
}

template <class Set> constexpr bool has_kernel_of_reals(const recipe_writer<Set>& w) {
  const operator_id id = w.self.anchor.id;
  return id == id_of<op::matmul> || id == id_of<op::conv> ||
         visit_operator<has_rows>(Set{}, id, w.anchor_codes(), [](const auto&) { return true; });
}

}  // namespace detail

// Writes recipe number r of a plan as a kernel, or says why there is none. Set: the operators that the plan may use.
// allowed: how far from exact ones its results may be.
template <class Set>
constexpr kernel_draft write_kernel(const plan_view& plan, std::size_t r, source_writer& source,
                                    accuracy allowed = {}) {
  recipe_writer<Set> w(plan, r, source);
  const operator_tag& anchor = w.self.anchor;
  const bool has_reals = is_written_with_reals(w.self.anchor_type);
  if (const std::string_view problem = detail::problem_of_recipe(plan, r); !problem.empty())
    w.fail(anchor.name, problem);
  else if (w.self.earlier.count == 1) write_normalised_product(w);
  else if (w.self.earlier.count != 0) write_attention(w);
  else if (anchor.id == operator_id::none) write_map(w);
  else if (anchor.id == id_of<op::concat>) write_concat(w);
  else if ((has_reals && detail::write_of_reals(w, allowed)) || write_point(w) || write_whole(w))
    w.fail_if_refused(anchor.name);
  else if (has_reals || !detail::has_kernel_of_reals(w))
    w.fail(anchor.name, "there is no OpenCL kernel for this operator");
  else
    w.fail(anchor.name, "this operator's kernel for OpenCL computes with floats, not with ", name(w.self.anchor_type));
  return w.draft;
}

namespace detail {

// A kernel made in a constant expression: its text or, where there is none, the reason.
template <std::size_t Room> struct stored_kernel {
  char characters[Room]{};
  std::size_t size = 0;
  work_size work;
  bool is_right = false;

  constexpr std::string_view view() const { return {characters, size}; }
};

template <class Net, std::size_t R> struct kernel_source {
  // In more room than it needs, or not whole.
  template <std::size_t Room> static constexpr stored_kernel<Room> write() {
    using set = typename dnnkit::detail::set_of_model<typename Net::model>::type;
    stored_kernel<Room> k;
    source_writer source(k.characters, Room);
    const kernel_draft draft = write_kernel<set>(Net::plan, R, source, accuracy_of<typename Net::model>());
    k.is_right = draft.error.empty();
    if (!k.is_right) (source = source_writer(k.characters, Room)) << draft.error.view();
    k.size = source.size();
    k.work = draft.work;
    return k;
  }
  template <std::size_t Room = 1 << 13> static constexpr auto make() {
    constexpr stored_kernel<Room> roomy = write<Room>();
    if constexpr (roomy.size > Room) {
      return make<roomy.size>();
    } else {
      stored_kernel<roomy.size> exact{{}, roomy.size, roomy.work, roomy.is_right};
      for (std::size_t i = 0; i < roomy.size; ++i) exact.characters[i] = roomy.characters[i];
      return exact;
    }
  }
  static constexpr auto made = make();

  static constexpr auto problem() {
    if constexpr (!made.is_right) return dnnkit::detail::say<made, dnnkit::detail::model_error>();
  }
  using checked = decltype(problem());
  static constexpr kernel_text text{made.view(), made.work};
};

}  // namespace detail

// One text a recipe, all of them constants of the program.
template <class Net> inline constexpr auto kernel_texts = []<std::size_t... R>(std::index_sequence<R...>) {
  return std::array<kernel_text, sizeof...(R)>{detail::kernel_source<Net, R>::text...};
}
(std::make_index_sequence<Net::plan.recipes.size()>{});

}  // namespace dnnkit::opencl
