// SPDX-License-Identifier: MIT
// The kernel of Concat: a work-item computes an element of the output, from the input that has it.
#pragma once

#include <cstddef>

#include "dnnkit/op/concat.hpp"
#include "dnnkit/opencl/tree_writer.hpp"
#include "dnnkit/operator/attributes.hpp"

namespace dnnkit::opencl {

template <class Set> constexpr void write_concat(recipe_writer<Set>& w) {
  const std::size_t joined = decode<op::concat>(w.anchor_codes()).along(w.space().size());
  w.comment_operators();
  w.begin_elements();
  for (std::size_t d = 0; d < w.space().size(); ++d) w.out << (d == 0 ? "int x" : ",x") << d << "=c" << d;
  w.out << ";  // coordinates of an input\n";
  const expression part = w.variable(expression(0), computed_as(w.self.anchor_type));
  const std::size_t last = w.self.anchor_inputs.count - 1;
  for (std::size_t i = 0; i <= last; ++i) {
    const local_extent extent = w.input_shape(i)[joined];
    if (i < last) w.out << "if(x" << joined << '<' << extent << ")";
    w.out << "{\n";
    w.assign(part, tree_writer<Set>(w, 'x')(w.input(i), w.self.anchor.name));
    w.out << "}";
    if (i < last) w.out << "else{\nx" << joined << "-=" << extent << ";\n";
  }
  for (std::size_t i = 0; i < last; ++i) w.out << '}';
  w.out << '\n';
  tree_writer<Set>(w, 'c', part).store_outputs();
  w.end();
}

}  // namespace dnnkit::opencl
