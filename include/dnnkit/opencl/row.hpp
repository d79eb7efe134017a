// SPDX-License-Identifier: MIT
// The kernel of reductions and row operators (Softmax, normalisations) from their passes (operator/statistics.hpp): a
// work-group a row. Each work-item folds every so many elements, the folds are merged in local memory, and all
// work-items close the pass.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "dnnkit/opencl/row_results.hpp"
#include "dnnkit/opencl/tree_writer.hpp"
#include "dnnkit/operator/statistics.hpp"

namespace dnnkit::opencl {

namespace detail {

template <class Set, class Op> class row_writer {
 public:
  constexpr row_writer(recipe_writer<Set>& w, const Op& op)
      : w_(w), op_(op), extents_(w.input_shape(0)), row_(op.axes(extents_.size())) {}

  constexpr void write() {
    constexpr std::uint64_t largest_group = 64;
    const work_size length = work_size::of(extents_, [&](std::size_t d) { return row_.has(d); });
    work_size rows = work_size::of(extents_, [&](std::size_t d) { return !row_.has(d); });
    items_ = rows.group_size = static_cast<std::int64_t>(
        length.other_count != 0
            ? largest_group
            : std::min(largest_group,
                       std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(length.known, 1)))));
    w_.comment_operators();
    w_.begin(rows);
    w_.out << "const int length=";
    w_.product(length);
    w_.out << ";\nlocal float folds[" << items_ << "];\nconst int item=get_local_id(0);\nint i=get_group_id(0);\n";
    w_.coordinates('x', extents_, [&](std::size_t d) { return !row_.has(d); });
    [&]<std::size_t... P>(std::index_sequence<P...>) { (fold(pass<P>{}), ...); }
    (std::make_index_sequence<Op::passes>{});
    if constexpr (Op::kind == form::row) finish();
    else store();
    w_.end();
  }

 private:
  // Writes what body(tree of the input) writes for every element of the row that is this work-item's.
  constexpr void for_elements(auto body) {
    w_.out << "for(int j=item;j<length;j+=" << items_ << "){\nint i=j;\n";
    w_.coordinates('x', extents_, [&](std::size_t d) { return row_.has(d); });
    tree_writer<Set> tree(w_, 'x');
    body(tree(w_.input(0), w_.self.anchor.name));
    w_.out << "}\n";
  }

  template <std::size_t P> constexpr void fold(pass<P> p) {
    const expression sum = w_.variable(op_.template start<expression>(p));
    for_elements([&](const expression& x) { w_.assign(sum, op_.template accumulate<expression>(p, sum, x, closed_)); });
    w_.out << "folds[item]=" << sum << ";\nbarrier(CLK_LOCAL_MEM_FENCE);\nfor(int h=" << items_ / 2
           << ";h>0;h/=2){\nif(item<h){\n";
    const expression mine = local_fold("item"), other = local_fold("item+h");
    const expression both = op_.template merge<expression>(p, mine, other);
    w_.out << "folds[item]=" << both << ";\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\n}\n";
    w_.assign(sum, local_fold("0"));
    w_.out << "barrier(CLK_LOCAL_MEM_FENCE);\n";  // the next pass writes there again
    closed_[P] = op_.template close<expression>(
        p, sum, expression::statement(element_kind::real, &w_.out, "(float)length"), closed_);
  }
  constexpr expression local_fold(std::string_view item) {
    return expression::statement(element_kind::real, &w_.out, "folds[", item, "]");
  }

  constexpr void finish() {
    for_elements(
        [&](const expression& x) { store_element(w_, extents_, op_.template finish<expression>(x, closed_)); });
  }
  constexpr void store() {
    w_.out << "if(item==0){\n";
    store_row(w_, extents_, row_, closed_[Op::passes - 1]);
    w_.out << "}\n";
  }

  recipe_writer<Set>& w_;
  const Op& op_;
  std::span<const local_extent> extents_;
  axis_set row_;
  std::int64_t items_ = 1;
  statistics<expression, Op::passes> closed_{};
};

template <class Op>
struct has_rows : std::bool_constant<(Op::kind == form::row || Op::kind == form::reduction) &&
                                     has(accepts<Op>, element_kinds::floating)> {};

}  // namespace detail

// False when the anchor is no operator of rows.
template <class Set> constexpr bool write_rows(recipe_writer<Set>& w) {
  return visit_operator<detail::has_rows>(Set{}, w.self.anchor.id, w.anchor_codes(), [&]<class Op>(const Op& op) {
    detail::row_writer<Set, Op>(w, op).write();
    return true;
  });
}

}  // namespace dnnkit::opencl
