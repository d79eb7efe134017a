// SPDX-License-Identifier: MIT
// Pass: which values a target keeps in images (SmartMem, section 3.3, Figure 5), where it has a policy for them:
//   struct images {
//     static constexpr std::int32_t side = 8192;   // texels that an image has across and down, at most
//     // Can the kernel of recipe r write its output o as texels?
//     static constexpr bool can_write(const plan_view& plan, std::size_t r, const recipe_output& o);
//   };
// A row of the image is as many of the value's innermost dimensions as make a row of some length: what is next to an
// element along the innermost dimension lies in its texel or beside it, what is next along the others lies in the rows
// around, and a texture's cache has both. Every kernel can read an image; which can write it is known when recipes are.
// So the pass makes a plan of buffers and looks at that one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/pass/make_plan.hpp"
#include "dnnkit/pass/schedule.hpp"

namespace dnnkit {

namespace detail {

// Elements of a row of the image for a value of these extents; 0 when it does not fit into one. Rows of 64 texels and
// more, where the value has as many; the shortest that leave no more rows than there may be.
constexpr std::int32_t texel_row_of(const shape& s, std::int64_t side) {
  constexpr std::int64_t usual = 256;
  std::int64_t elements = 1, row = 1;
  for (dim d : s) {
    if (!d.is_known() || d.value() <= 0) return 0;
    elements *= d.value();
  }
  for (std::size_t i = s.size(); i-- > 0;) {
    row *= s[i].value();
    if (row % 4 == 0 && row >= usual && elements / row <= side) break;
  }
  return row % 4 == 0 && row / 4 <= side && elements / row <= side ? static_cast<std::int32_t>(row) : 0;
}

template <class Images> class image_chooser {
 public:
  constexpr explicit image_chooser(schedule& s) : s_(s) {}

  constexpr void run() {
    decision_log log;
    graph g = s_.g;
    const plan_draft made = dnnkit::make_plan(g, s_.fusion, s_.layouts, decision_notes(log));
    const plan_view plan = plan::view_of(made);
    vector<std::string_view> against(plan.buffers.size(), "");
    look_at_buffers(plan, against);
    look_at_writers(plan, against);
    for (std::size_t v = 0; v < s_.g.values.size(); ++v) {
      const std::int32_t b = log.buffer_of[v];
      if (b == none) continue;
      const auto i = static_cast<std::size_t>(b);
      if (plan.buffers[i].where != plan::storage::arena) continue;
      decision d{"choose images", against[i].empty() ? "image" : "buffer",
                 against[i].empty() ? "its kernel has four neighbours at a time" : against[i]};
      d.value = static_cast<value_id>(v);
      s_.notes().add(d);
      if (against[i].empty()) s_.layouts[v].texel_row = texel_row_of(plan.buffers[i].type.dims, Images::side);
    }
  }

 private:
  constexpr void look_at_buffers(const plan_view& plan, vector<std::string_view>& against) {
    const auto object = [&](std::int32_t b, std::string_view reason) {
      if (against[static_cast<std::size_t>(b)].empty()) against[static_cast<std::size_t>(b)] = reason;
    };
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
      const buffer& b = plan.buffers[i];
      const auto number = static_cast<std::int32_t>(i);
      if (b.layout.within != none) {
        object(number, "it lies inside another value");
        object(b.layout.within, "others lie inside it");
      }
      if (b.type.type != dtype::f32 && b.type.type != dtype::f16) object(number, "texels are numbers of 16 or 32 bits");
      if (!b.elements.is_known()) object(number, "its extents are not known");
      else if (texel_row_of(b.type.dims, Images::side) == 0) object(number, "its rows are no texels of four");
      for (std::size_t d = 0; d < b.layout.order.size(); ++d)
        if (b.layout.order[d] != d || b.layout.before[d] + b.layout.after[d] != 0)
          object(number, "it is not row-major");
    }
  }
  constexpr void look_at_writers(const plan_view& plan, vector<std::string_view>& against) {
    for (const plan::step& s : plan.steps) {
      const recipe& last = plan.recipes[s.kernel];
      for (std::size_t i = 0; i < plan_view::stages_of(last); ++i)
        for (const recipe_output& o : plan_view::part<recipe_output>(plan.outputs, plan.stage_of(last, i).outputs)) {
          auto& reason = against[static_cast<std::size_t>(plan.numbers_of(s.operands)[o.operand])];
          if (reason.empty() && (i + 1 < plan_view::stages_of(last) || !Images::can_write(plan, s.kernel, o)))
            reason = "its kernel does not have four neighbours at a time";
        }
    }
  }

  schedule& s_;
};

}  // namespace detail

namespace passes {

struct choose_images {
  static constexpr std::string_view name = "choose images";

  template <class Target> static constexpr void run(schedule& s) {
    if constexpr (requires { Target::images::side; }) {
      if (s.fusion.groups.empty()) s.fusion = detail::kernel_for_each_node(s.g);
      if (s.layouts.empty()) s.layouts = row_major_layouts(s.g);
      detail::image_chooser<typename Target::images>(s).run();
    }
  }
};

}  // namespace passes

}  // namespace dnnkit
