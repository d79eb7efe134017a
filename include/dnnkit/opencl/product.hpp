// SPDX-License-Identifier: MIT
// The kernel of a matrix product: a work-item computes an element of the output, its operands' prologues where it reads
// them.
#pragma once

#include <cstddef>
#include <span>

#include "dnnkit/op/matmul.hpp"
#include "dnnkit/opencl/recipe_writer.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit::opencl {

template <class Set> constexpr void write_product(recipe_writer<Set>& w) {
  const auto a = w.input_shape(0), b = w.input_shape(1);
  const std::size_t ra = a.size(), rb = b.size(), rank = w.space().size();
  const std::size_t batch = rank - (ra > 1 ? 1 : 0) - (rb > 1 ? 1 : 0);  // leading axes of the output
  // Coordinates of an operand, of which axis `along` runs over the sum.
  const auto coordinates = [&](char prefix, std::span<const local_extent> shape, std::size_t along,
                               std::size_t row_or_column) {
    const std::size_t leading = shape.size() < 2 ? 0 : shape.size() - 2;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      w.out << "const int " << prefix << d << '=';
      if (d == along) w.out << "k;\n";
      else if (d >= leading) w.out << 'c' << row_or_column << ";\n";
      else if (shape[d] == 1) w.out << "0;\n";
      else w.out << 'c' << d + batch - leading << ";\n";
    }
  };
  w.begin_elements();
  const expression sum = w.variable(expression(0));
  w.out << "for(int k=0;k<" << a[ra - 1] << ";++k){\n";
  coordinates('x', a, ra - 1, batch);
  coordinates('y', b, rb > 1 ? rb - 2 : 0, rank - (rank > 0 ? 1 : 0));
  const expression x = tree_writer<Set>(w, 'x')(w.input(0), w.self.anchor.name);
  const expression y = tree_writer<Set>(w, 'y')(w.input(1), w.self.anchor.name);
  w.assign(sum, plus_product(sum, x, y));
  w.out << "}\n";
  tree_writer<Set>(w, 'c', sum).store_outputs();
  w.end();
}

}  // namespace dnnkit::opencl
