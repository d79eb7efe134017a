// SPDX-License-Identifier: MIT
// The kernel of a convolution: a work-item computes an element of the output over all taps inside the input and the
// channels of its group, its operands' prologues where it reads them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/op/convolution.hpp"
#include "dnnkit/opencl/window_loops.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit::opencl {

template <class Set> constexpr void write_convolution(recipe_writer<Set>& w) {
  const auto input = w.input_shape(0), weight = w.input_shape(1);
  const op::conv c = decode<op::conv>(w.anchor_codes());
  const window over = c.over([&](std::size_t i) { return weight[i].value(); }, weight.size() - 2);
  const std::int64_t channels_in = weight[1].value(), channels_out = weight[0].value() / c.group;  // of a group
  w.begin_elements();
  expression first(0);
  if (w.input(2).from != source::nothing) {
    w.out << "const int z0=c1;\n";
    first = tree_writer<Set>(w, 'z')(w.input(2), w.self.anchor.name);
  }
  const expression sum = w.variable(first);
  begin_taps(w, over, input);
  w.out << "if(";
  is_inside(w, input);
  w.out << ")for(int y1=0;y1<" << channels_in << ";++y1){\nconst int x0=c0,x1=c1/" << channels_out << '*' << channels_in
        << "+y1,y0=c1";
  for (std::size_t i = 0; i + 2 < weight.size(); ++i) w.out << ",y" << i + 2 << "=k" << i;
  w.out << ";\n";
  const expression x = tree_writer<Set>(w, 'x')(w.input(0), w.self.anchor.name);
  const expression y = tree_writer<Set>(w, 'y')(w.input(1), w.self.anchor.name);
  w.assign(sum, plus_product(sum, x, y));
  w.out << "}\n";
  end_taps(w, input);
  tree_writer<Set>(w, 'c', sum).store_outputs();
  w.end();
}

}  // namespace dnnkit::opencl
