// SPDX-License-Identifier: MIT
// The kernel of reductions and row operators from their passes (operator/statistics.hpp) where extents are known: a
// work-group has one long row or several short ones, as many items a row as its length and the number of rows ask for,
// and items keep their elements in registers from the first pass on, so that each is read, and computed by what stands
// before it, once.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "dnnkit/opencl/product_tile.hpp"
#include "dnnkit/opencl/row.hpp"
#include "dnnkit/opencl/staged_load.hpp"
#include "dnnkit/opencl/tree_writer.hpp"

namespace dnnkit::opencl {

// Rows a group and items a row, which are a power of two.
struct row_division {
  std::int64_t rows = 1, items = 64;
};

// For rows of a length. Fewer elements an item where there are too few rows to have all compute units busy.
constexpr row_division divide_rows(std::int64_t rows, std::int64_t length, const product_gpu& gpu = {}) {
  constexpr std::int64_t usual_group = 128, smallest_group = 32, largest_group = 1024;
  const auto items_of = [&](std::int64_t elements) {
    const std::int64_t wanted = std::max<std::int64_t>(1, (length + elements - 1) / elements);
    return std::min(largest_group, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(wanted))));
  };
  row_division d;
  d.items = items_of(rows >= 4 * gpu.compute_units ? 8 : rows >= gpu.compute_units ? 4 : 2);
  d.rows = std::max<std::int64_t>(1, usual_group / d.items);
  while (d.rows > 1 && d.rows * d.items > smallest_group && (rows + d.rows - 1) / d.rows < gpu.compute_units)
    d.rows /= 2;
  return d;
}

namespace detail {

template <class Set, class Op> class grouped_rows {
 public:
  constexpr grouped_rows(recipe_writer<Set>& w, const Op& op)
      : w_(w), op_(op), extents_(w.input_shape(0)), row_(op.axes(extents_.size())) {}

  constexpr void write() {
    std::int64_t rows = 1;
    for (std::size_t d = 0; d < extents_.size(); ++d) (row_.has(d) ? length_ : rows) *= extents_[d].value();
    d_ = divide_rows(rows, length_);
    each_ = (length_ + d_.items - 1) / d_.items;
    has_lanes_ = w_.writes_texels();
    if (has_lanes_) each_ = (each_ + 3) / 4 * 4;
    keeps_ = each_ > 0 && each_ <= most_kept && Op::passes + (Op::kind == form::row ? 1 : 0) > 1;
    // Neighbours among a group's items read neighbours in memory.
    const std::int64_t group = d_.items * d_.rows;
    items_first_ = runs_along_row();
    w_.out << "// " << w_.self.anchor.name << " of rows of " << length_ << ": " << d_.items << " items a row, "
           << d_.rows << (d_.rows == 1 ? " row" : " rows") << " a group\n__attribute__((reqd_work_group_size(" << group
           << ",1,1)))\n";
    w_.begin((rows + d_.rows - 1) / d_.rows, group);
    if (d_.items > 1) w_.out << "local float folds[" << group << "];\n";
    w_.out << "const int id=get_local_id(0),item=id" << (items_first_ ? '%' : '/')
           << (items_first_ ? d_.items : d_.rows) << ",line=id" << (items_first_ ? '/' : '%')
           << (items_first_ ? d_.items : d_.rows) << ",row=get_group_id(0)*" << d_.rows << "+line;\n";
    has_more_ = rows % d_.rows != 0;
    if (has_more_) w_.out << "int i=min(row," << rows - 1 << ");\n";  // what is beyond is computed and not stored
    else w_.out << "int i=row;\n";
    w_.coordinates('x', extents_, [&](std::size_t d) { return !row_.has(d); });
    if (keeps_) w_.out << "float kept[" << each_ << "];\n";
    rows_ = rows;
    [&]<std::size_t... P>(std::index_sequence<P...>) { (fold(pass<P>{}), ...); }
    (std::make_index_sequence<Op::passes>{});
    if constexpr (Op::kind == form::row) finish();
    else store();
    w_.end();
  }

 private:
  static constexpr std::int64_t most_kept = 16;  // registers of an item

  // Does the input lie along a row's axes in memory?
  constexpr bool runs_along_row() const {
    const std::optional<recipe_load> l = main_load(w_, w_.input(0));
    if (l)
      for (const view_axis& a : w_.plan.axes_of(l->axes))
        if (a.stride == 1 && a.size.value() > 1) return row_.has(a.of);
    return true;
  }
  constexpr std::int64_t step_of_item() const { return items_first_ ? 1 : d_.rows; }

  // Writes what body(element) writes for every element of the row that is this item's, with its coordinates, if wanted.
  constexpr void for_elements(bool is_first, bool has_coordinates, auto body) {
    if (keeps_) {
      w_.out << "#pragma unroll\nfor(int q=0;q<" << each_ << ";++q){\nconst int j=";
      if (has_lanes_) w_.out << "(item+q/4*" << d_.items << ")*4+q%4,lane=q%4;\n";
      else w_.out << "item+q*" << d_.items << ";\n";
      if (length_ != each_ * d_.items) w_.out << "if(j<" << length_ << ')';
      w_.out << "{\n";
    } else if (has_lanes_) {
      w_.out << "for(int four=item*4;four<" << length_ << ";four+=" << 4 * d_.items
             << ")dnnkit_unroll(lane,4){\nconst int j=four+lane;\n{\n";
    } else {
      w_.out << "for(int j=item;j<" << length_ << ";j+=" << d_.items << "){\n{\n";
    }
    if (is_first || !keeps_ || has_coordinates) {
      w_.out << "int i=j;\n";
      w_.coordinates('x', extents_, [&](std::size_t d) { return row_.has(d); });
    }
    if (is_first || !keeps_) {
      const expression x = tree_writer<Set>(w_, 'x')(w_.input(0), w_.self.anchor.name);
      if (keeps_) w_.out << "kept[q]=" << x << ";\n";
      body(x);
    } else {
      body(expression::statement(element_kind::real, &w_.out, "kept[q]"));
    }
    w_.out << "}\n}\n";
  }

  template <std::size_t P> constexpr void fold(pass<P> p) {
    const expression sum = w_.variable(op_.template start<expression>(p));
    for_elements(P == 0, false,
                 [&](const expression& x) { w_.assign(sum, op_.template accumulate<expression>(p, sum, x, closed_)); });
    if (d_.items > 1) {
      w_.out << "folds[id]=" << sum << ";\nbarrier(CLK_LOCAL_MEM_FENCE);\nfor(int h=" << d_.items / 2
             << ";h>0;h/=2){\nif(item<h){\n";
      const expression mine = expression::statement(element_kind::real, &w_.out, "folds[id]");
      const expression other = expression::statement(element_kind::real, &w_.out, "folds[id+h*", step_of_item(), "]");
      const expression both = op_.template merge<expression>(p, mine, other);
      w_.out << "folds[id]=" << both << ";\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\n}\n";
      w_.out << sum << "=folds[line*" << (items_first_ ? d_.items : 1) << "];\n";
      if (P + 1 < Op::passes) w_.out << "barrier(CLK_LOCAL_MEM_FENCE);\n";  // the next pass writes there again
    }
    closed_[P] = op_.template close<expression>(p, sum, expression(length_), closed_);
  }

  // Row operators: an element of the output for each of the input, at the same coordinates.
  constexpr void finish() {
    if (has_more_) w_.out << "if(row<" << rows_ << "){\n";
    for_elements(false, true, [&](const expression& x) {
      store_element(w_, extents_, op_.template finish<expression>(x, closed_));
    });
    if (has_more_) w_.out << "}\n";
  }
  constexpr void store() {
    w_.out << "if(item==0";
    if (has_more_) w_.out << "&&row<" << rows_;
    w_.out << "){\n";
    store_row(w_, extents_, row_, closed_[Op::passes - 1]);
    w_.out << "}\n";
  }

  recipe_writer<Set>& w_;
  const Op& op_;
  std::span<const local_extent> extents_;
  axis_set row_;
  std::int64_t length_ = 1, each_ = 1, rows_ = 1;
  row_division d_;
  bool keeps_ = false, items_first_ = true, has_more_ = false, has_lanes_ = false;  // in turns of lane, a texel
  statistics<expression, Op::passes> closed_{};
};

}  // namespace detail

// False when the anchor is no operator of rows, or extents are not known.
template <class Set> constexpr bool write_grouped_rows(recipe_writer<Set>& w) {
  return detail::has_known_extents(w) &&
         visit_operator<detail::has_rows>(Set{}, w.self.anchor.id, w.anchor_codes(), [&]<class Op>(const Op& op) {
           detail::grouped_rows<Set, Op>(w, op).write();
           return true;
         });
}

}  // namespace dnnkit::opencl
