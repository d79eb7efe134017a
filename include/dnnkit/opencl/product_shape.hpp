// SPDX-License-Identifier: MIT
// A MatMul of a recipe as one product or as a batch of them, and the coordinates of its operands and of its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dnnkit/opencl/product_tile.hpp"
#include "dnnkit/opencl/recipe_writer.hpp"
#include "dnnkit/opencl/staged_load.hpp"

namespace dnnkit::opencl {

// Where B is the same for all leading axes of A, those are rows, too: one product. Else the leading axes of the result
// count products.
template <class Set> class product_shape {
 public:
  constexpr explicit product_shape(recipe_writer<Set>& w)
      : w_(w), a_(w.input_shape(0)), b_(w.input_shape(1)), space_(w.space()) {
    batch_ = space_.size() - (a_.size() > 1 ? 1 : 0) - (b_.size() > 1 ? 1 : 0);
    for (std::size_t d = 0; d + 2 < b_.size(); ++d) folds_ = folds_ && b_[d] == 1;
    extents.k = a_[a_.size() - 1].value();
    extents.n = b_.size() > 1 ? b_[b_.size() - 1].value() : 1;
    for (std::size_t d = 0; d < rows_end(); ++d)
      (folds_ || d >= batch_ ? extents.m : extents.batch) *= space_[d].value();
    extents.is_gathered = !walk_of_b().by_four;
  }

  product_extents extents;

  // The first and the last coordinate of A that runs over rows.
  constexpr std::size_t first_row() const { return folds_ || a_.size() < 2 ? 0 : a_.size() - 2; }
  constexpr std::size_t last_row() const { return a_.size() - 1; }
  constexpr std::size_t k_of_b() const { return b_.size() > 1 ? b_.size() - 2 : 0; }
  constexpr std::size_t rank_of_a() const { return a_.size(); }
  constexpr std::size_t rank_of_b() const { return b_.size(); }
  constexpr staged_walk walk_of_b() const { return walk_of(w_, 1, k_of_b(), k_of_b() + 1, k_of_b() + 1, rank_of_b()); }

  // "const int g0=...": coordinates of product z of a batch.
  constexpr void write_batch() const {
    if (folds_) return;
    w_.out << "int i=z;\n";
    w_.coordinates('g', space_.first(batch_));
  }
  // x0 ... of A's element in row m, y0 ... of B's in column n, c0 ... of the result's.
  constexpr void write_a() const {
    if (folds_) {
      rows_of_m('x', a_.first(a_.size() - 1));
    } else {
      leading('x', a_);
      if (a_.size() > 1) w_.out << "const int x" << a_.size() - 2 << "=m;\n";
    }
    w_.out << "const int x" << a_.size() - 1 << "=k;\n";
  }
  constexpr void write_b() const {
    leading('y', b_);
    w_.out << "const int y" << k_of_b() << "=k;\n";
    if (b_.size() > 1) w_.out << "const int y" << b_.size() - 1 << "=n;\n";
  }
  constexpr void write_result() const {
    if (folds_) {
      rows_of_m('c', space_.first(rows_end()));
    } else {
      for (std::size_t d = 0; d < batch_; ++d) w_.out << "const int c" << d << "=g" << d << ";\n";
      if (a_.size() > 1) w_.out << "const int c" << batch_ << "=m;\n";
    }
    if (b_.size() > 1) w_.out << "const int c" << space_.size() - 1 << "=n;\n";
  }

 private:
  constexpr std::size_t rows_end() const { return space_.size() - (b_.size() > 1 ? 1 : 0); }
  constexpr void rows_of_m(char prefix, std::span<const local_extent> extents_of_rows) const {
    if (extents_of_rows.size() == 1) {
      w_.out << "const int " << prefix << "0=m;\n";
      return;
    }
    w_.out << "int i=m;\n";
    w_.coordinates(prefix, extents_of_rows);
  }
  constexpr void leading(char prefix, std::span<const local_extent> shape) const {
    for (std::size_t d = 0; d + 2 < shape.size(); ++d) {
      w_.out << "const int " << prefix << d;
      if (shape[d] == 1) w_.out << "=0;\n";
      else w_.out << "=g" << d + batch_ + 2 - shape.size() << ";\n";
    }
  }

  recipe_writer<Set>& w_;
  std::span<const local_extent> a_, b_, space_;
  std::size_t batch_ = 0;
  bool folds_ = true;
};

// An operand of a product for tiled_loop.hpp and lines_of_product.hpp.
template <class Set> struct product_operand {
  const product_shape<Set>& shape;
  operand_ref from;
  char prefix;  // 'x': A, 'y': B
  staged_walk walk;

  constexpr void begin() const { shape.write_batch(); }
  constexpr void coordinates() const { prefix == 'x' ? shape.write_a() : shape.write_b(); }
  constexpr void condition(auto) const {}
};

}  // namespace dnnkit::opencl
