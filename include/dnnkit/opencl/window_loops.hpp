// SPDX-License-Identifier: MIT
// Loops over the taps of a window, for convolutions and pools.
#pragma once

#include <cstddef>
#include <span>

#include "dnnkit/opencl/recipe_writer.hpp"
#include "dnnkit/operator/window.hpp"

namespace dnnkit::opencl {

// Begins loops over the taps k0, k1 ... of the window at spatial coordinates c2, c3 ..., which have the coordinates x2,
// x3 ... of each in the input, of this shape; they may lie outside of it. end_taps() ends them.
template <class Set>
constexpr void begin_taps(recipe_writer<Set>& w, const window& over, std::span<const local_extent> input) {
  for (std::size_t i = 0; i + 2 < input.size(); ++i)
    w.out << "for(int k" << i << "=0;k" << i << '<' << over.kernel(i) << ";++k" << i << "){\nconst int x" << i + 2
          << "=c" << i + 2 << '*' << over.stride(i) << "+k" << i << '*' << over.dilation(i) << '-' << over.pad_begin(i)
          << ";\n";
}
template <class Set> constexpr void end_taps(recipe_writer<Set>& w, std::span<const local_extent> input) {
  for (std::size_t i = 0; i + 2 < input.size(); ++i) w.out << "}\n";
}

// "1&&x2>=0&&x2<8": does the tap lie in the input?
template <class Set> constexpr void is_inside(recipe_writer<Set>& w, std::span<const local_extent> input) {
  w.out << '1';
  for (std::size_t d = 2; d < input.size(); ++d) w.out << "&&x" << d << ">=0&&x" << d << '<' << input[d];
}

}  // namespace dnnkit::opencl
