// SPDX-License-Identifier: MIT
// The kernel of MaxPool and AveragePool: a work-item computes an element of the output over the taps of its window.
#pragma once

#include <cstddef>
#include <type_traits>

#include "dnnkit/op/pooling.hpp"
#include "dnnkit/opencl/window_loops.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit::opencl {

// Pool: op::max_pool or op::average_pool.
template <class Pool, class Set> constexpr void write_pool(recipe_writer<Set>& w) {
  constexpr bool takes_largest = std::is_same_v<Pool, op::max_pool>;
  const auto input = w.input_shape(0);
  const Pool pool = decode<Pool>(w.anchor_codes());
  const window over = pool.over();
  w.begin_elements();
  const expression fold = w.variable(takes_largest ? lowest<expression>() : expression(0));
  const expression taps = w.variable(expression(0));  // that count
  w.out << "const int x0=c0,x1=c1;\n";
  begin_taps(w, over, input);
  const auto tap = [&] {
    const expression x = tree_writer<Set>(w, 'x')(w.input(0), w.self.anchor.name);
    w.assign(fold, takes_largest ? maximum(fold, x) : fold + x);
  };
  bool padding_counts = false;
  if constexpr (!takes_largest) padding_counts = pool.count_include_pad;
  if (padding_counts) {  // not what lies beyond it
    w.out << "if(1";
    for (std::size_t i = 0; i + 2 < input.size(); ++i)
      w.out << "&&x" << i + 2 << '<' << input[i + 2] << '+' << over.pad_end(i);
    w.out << ")" << taps << "+=1;\n";
  }
  w.out << "if(";
  is_inside(w, input);
  w.out << "){\n";
  tap();
  if (!padding_counts) w.out << taps << "+=1;\n";
  w.out << "}\n";
  end_taps(w, input);
  tree_writer<Set>(w, 'c', takes_largest ? fold : fold / taps).store_outputs();
  w.end();
}

}  // namespace dnnkit::opencl
