// SPDX-License-Identifier: MIT
// The kernel of rows that are normalised and then multiplied, in tiles (tiled_loop.hpp): each work-group makes the
// passes over the rows of its tile first, whose statistics stay in local memory, and finishes elements on their way to
// local memory for the product. Nothing of the normalisation is stored.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "dnnkit/opencl/normalised_family.hpp"
#include "dnnkit/opencl/row.hpp"
#include "dnnkit/opencl/tiled_product.hpp"

namespace dnnkit::opencl {

namespace detail {

// Can everything that is computed with r, at coordinates of the anchor's first input, be computed at four neighbouring
// places at once, which coordinates first ... last - 1 count?
template <class Set>
constexpr bool is_of_fours(const recipe_writer<Set>& w, operand_ref r, std::size_t first, std::size_t last) {
  if (r.from == source::anchor || r.from == source::constant) return true;
  if (r.from == source::load) {
    const recipe_load& l = w.plan.loads[w.self.loads.first + r.index];
    if (l.reach.count != 0) return true;
    const run_of_load run = run_along(w, l, w.input_shape(0), first, last);
    bool is_one = true;
    for (const view_axis& a : w.plan.axes_of(l.axes))
      is_one = is_one && (a.of < first || a.of >= last || a.stride == 0 || a.size == 1);
    return is_read_as_stored(w, r) && (is_one || (run.is_dense && run.others_by_four && run.length % 4 == 0));
  }
  if (r.from != source::node) return false;
  const auto& n = w.plan.nodes[w.self.nodes.first + r.index];
  if (n.type != dtype::f32) return false;
  if (n.op.id != id_of<op::add> && n.op.id != id_of<op::sub> && n.op.id != id_of<op::mul> && n.op.id != id_of<op::div>)
    return false;
  for (operand_ref in : w.plan.refs_of(n.inputs))
    if (!is_of_fours(w, in, first, last)) return false;
  return true;
}

// The product's first operand, which `rows`, an operator of rows, hands over.
template <class Set, class Op> class normalised_operand {
 public:
  operand_ref from;
  char prefix = 'x';
  staged_walk walk;

  constexpr normalised_operand(recipe_writer<Set>& w, recipe_writer<Set>& rows, const Op& op,
                               const product_shape<Set>& shape, const product_tile& tile)
      : from(w.input(0)), w_(w), rows_(rows), op_(op), shape_(shape), t_(tile), items_of_row_(items_of_row(tile)) {
    const std::size_t rank = shape.rank_of_a();
    walk = walk_of(rows, 0, rank - 1, rank, shape.first_row(), shape.last_row());
    const std::size_t first = walk.along_k ? rank - 1 : shape.first_row(), last = walk.along_k ? rank : rank - 1;
    walk.by_four = walk.by_four && is_of_fours(rows, handed(), first, last) && is_of_fours(w, from, first, last);
    along_ = {first, last};
  }

  constexpr void begin() const {
    auto& out = w_.out;
    shape_.write_batch();
    out << "// " << rows_.self.anchor.name << ": statistics of " << t_.bm << " rows of " << shape_.extents.k << ", "
        << items_of_row_ << (items_of_row_ == 1 ? " item" : " items") << " a row\n";
    for (std::size_t p = 0; p < Op::passes; ++p)
      out << "local float4 rows" << p << '[' << t_.bm / 4 << "];\nlocal float*const of_rows" << p
          << "=(local float*)rows" << p << ";\n";
    out << "{\nlocal float*const folds=(local float*)work;\nconst int lm=id";
    if (walk.along_k) out << '/' << items_of_row_ << ",item=id%" << items_of_row_ << ";\n";
    else out << '%' << t_.bm << ",item=id/" << t_.bm << ";\n";
    const bool has_idle = items_of_row_ * t_.bm != t_.items();
    out << "const bool is_of_row=" << (has_idle ? (walk.along_k ? "lm<" : "item<") : "true");
    if (has_idle) out << (walk.along_k ? t_.bm : items_of_row_);
    out << ";\nconst int m=min(m0+" << (has_idle && walk.along_k ? "min(lm," : "lm");
    if (has_idle && walk.along_k) out << t_.bm - 1 << ')';
    out << ',' << shape_.extents.m - 1 << ");\n";
    keep_rows();
    statistics<expression, Op::passes> closed{};
    [&]<std::size_t... P>(std::index_sequence<P...>) { (fold(pass<P>{}, closed), ...); }
    (std::make_index_sequence<Op::passes>{});
    out << "}\nbarrier(CLK_LOCAL_MEM_FENCE);\n";
  }
  constexpr void coordinates() const { shape_.write_a(); }
  constexpr void condition(auto) const {}
  constexpr staged_registers registers() const { return staged_registers::of(rows_, rows_.input(0), walk.by_four); }
  // What is normalised, at m and k.
  constexpr expression value() const {
    return tree_writer<Set>(rows_, prefix, {}, fours())(rows_.input(0), rows_.self.anchor.name);
  }
  // What the product multiplies.
  constexpr expression finished(const expression& x) const {
    statistics<expression, Op::passes> closed{};
    for (std::size_t p = 0; p < Op::passes; ++p)
      closed[p] = walk.by_four && !walk.along_k
                      ? expression::statement(element_kind::fours, &w_.out, "*(local const float4*)&of_rows", p, "[lm]")
                      : expression::statement(element_kind::real, &w_.out, "of_rows", p, "[lm]");
    const expression y = op_.template finish<expression>(x, closed);
    const expression stored = tree_writer<Set>(rows_, prefix, y, fours())(handed(), rows_.self.anchor.name);
    return tree_writer<Set>(w_, prefix, stored, fours())(from, w_.self.anchor.name);
  }

 private:
  constexpr std::optional<fours_along> fours() const { return walk.by_four ? std::optional(along_) : std::nullopt; }
  constexpr operand_ref handed() const { return rows_.plan.outputs[rows_.self.outputs.first].value; }

  // An item has every so many numbers of its row, or fours of them, in registers: all of them are on their way at once.
  constexpr bool by_four() const { return walk.by_four && walk.along_k; }
  constexpr std::int64_t kept() const { return divided_up(shape_.extents.k, items_of_row_ * (by_four() ? 4 : 1)); }
  constexpr void for_kept(auto body) const {
    auto& out = w_.out;
    const std::int64_t width = by_four() ? 4 : 1;
    out << "dnnkit_unroll(q," << kept() << "){\nconst int k=(item+q*" << items_of_row_ << ")*" << width << ";\n";
    const bool has_idle = !walk.along_k && items_of_row_ * t_.bm != t_.items();  // with no row, behind those that have
    if (has_idle || kept() * items_of_row_ * width != shape_.extents.k) out << "if(k<" << shape_.extents.k << ')';
    out << "{\n";
    body();
    out << "}\n}\n";
  }
  constexpr void keep_rows() const {
    auto& out = w_.out;
    out << (by_four() ? "float4" : "float") << " kept[" << kept() << "];\n";
    for_kept([&] {
      shape_.write_a();
      const std::optional<fours_along> fours = by_four() ? std::optional(along_) : std::nullopt;
      const expression x = tree_writer<Set>(rows_, prefix, {}, fours)(rows_.input(0), rows_.self.anchor.name);
      out << "kept[q]=" << x << ";\n";
    });
  }

  template <std::size_t P> constexpr void fold(pass<P> p, statistics<expression, Op::passes>& closed) const {
    auto& out = w_.out;
    const expression sum = w_.variable(op_.template start<expression>(p));
    for_kept([&] {
      for (std::string_view of : {".x", ".y", ".z", ".w"}) {
        const expression x = expression::statement(element_kind::real, &out, "kept[q]", by_four() ? of : "");
        w_.assign(sum, op_.template accumulate<expression>(p, sum, x, closed));
        if (!by_four()) break;
      }
    });
    const std::int64_t step = walk.along_k ? 1 : t_.bm;
    if (items_of_row_ > 1) {
      out << "folds[id]=" << sum << ";\nbarrier(CLK_LOCAL_MEM_FENCE);\nfor(int h=" << items_of_row_ / 2
          << ";h>0;h/=2){\nif(item<h){\n";
      const expression mine = expression::statement(element_kind::real, &out, "folds[id]");
      const expression other = expression::statement(element_kind::real, &out, "folds[id+h*", step, "]");
      const expression both = op_.template merge<expression>(p, mine, other);
      out << "folds[id]=" << both << ";\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\n}\n"
          << sum << "=folds[id-item*" << step << "];\n";
      if (P + 1 < Op::passes) out << "barrier(CLK_LOCAL_MEM_FENCE);\n";  // the next pass writes there again
    }
    closed[P] = op_.template close<expression>(p, sum, expression(shape_.extents.k), closed);
    out << "if(is_of_row&&item==0)of_rows" << P << "[lm]=" << closed[P] << ";\n";
  }

  recipe_writer<Set>& w_;
  recipe_writer<Set>& rows_;
  const Op& op_;
  const product_shape<Set>& shape_;
  const product_tile& t_;
  fours_along along_;
  std::int64_t items_of_row_;
};

}  // namespace detail

// Writes the kernel of a recipe of two stages, rows and the product that multiplies them.
template <class Set> constexpr void write_normalised_product(recipe_writer<Set>& w, const product_tile& tile) {
  recipe_writer<Set> rows(w, 0);
  visit_operator<detail::has_rows>(Set{}, rows.self.anchor.id, rows.anchor_codes(), [&]<class Op>(const Op& op) {
    if constexpr (Op::kind == form::row) {
      const product_shape<Set> shape(w);
      write_tiled_product(w, shape, tile, detail::normalised_operand<Set, Op>(w, rows, op, shape, tile));
    }
    return true;
  });
  if (w.draft.error.empty()) w.draft.error = rows.draft.error;
}
template <class Set> constexpr void write_normalised_product(recipe_writer<Set>& w) {
  const normalised_stages stages(kernel_spec(w.plan, w.self));
  if (const std::string_view why = stages.unfit(); !why.empty()) return w.fail(w.self.anchor.name, why);
  write_normalised_product(w, choose_normalised_tile(product_shape<Set>(w).extents));
}

}  // namespace dnnkit::opencl
