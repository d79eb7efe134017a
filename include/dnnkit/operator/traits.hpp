// SPDX-License-Identifier: MIT
// What an operator type says about itself: the classes of the papers, as plain enumerations.
#pragma once

#include <cstdint>
#include <string_view>

namespace dnnkit {

// DNNFusion, Table 3.2, in increasing order of complexity.
enum class mapping : std::uint8_t { one_to_one, reorganize, shuffle, one_to_many, many_to_many };

// SoD2, Table 2: what an output's extents follow from. A constant operand lowers the class: in graphs those values that
// ONNX gives as inputs of isvdos are attributes, so that inference tells the extents of every class but edo.
enum class dynamism : std::uint8_t {
  isdo,    // the shapes of the inputs, as its elements do: none of theirs is read
  isdos,   // the shapes of the inputs
  isvdos,  // these, and values: an extent, positions, axes
  edo      // execution alone, where nothing lowers it: inference may leave extents unknown
};
constexpr std::string_view text_of(dynamism d) {
  constexpr std::string_view names[] = {"ISDO", "ISDOS", "ISVDOS", "EDO"};
  return names[static_cast<unsigned>(d)];
}

// Laws that hold to the last bit (+ and * associate where they are exact; DNNFusion, section 3.4.2), combined with |.
enum class algebra : std::uint8_t {
  none = 0,
  associative = 1,  // f(f(a, b), c) = f(a, f(b, c))
  commutative = 2,  // f(a, b) = f(b, a)
  idempotent = 4,   // f(a, a) = a
  projection = 8    // f(f(x)) = f(x)
};
constexpr algebra operator|(algebra a, algebra b) {
  return static_cast<algebra>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool has(algebra a, algebra b) { return (static_cast<unsigned>(a) & static_cast<unsigned>(b)) != 0; }

// How code for the operator is made; which member functions its type has (docs/add-an-operator.md).
enum class form : std::uint8_t {
  elementwise,  // apply(x...): one output element from the elements at the same (broadcast) coordinates
  movement,     // forward(): the output is a view of the input; at() says the same a coordinate at a time
  point,        // at(): one output element from anywhere in the inputs
  reduction,    // passes over the elements along some axes, closed into one element (operator/statistics.hpp)
  row,          // the same passes, then finish() an element at a time
  whole,        // compute(): all elements at once, for outputs whose elements cannot be computed each on its own
  composite,    // expand(): said in terms of other operators, which replace it in the first pass
  constant      // a value written into the graph
};

struct traits {
  mapping map = mapping::one_to_one;
  dynamism dynamic = dynamism::isdos;
  algebra laws = algebra::none;
  // SmartMem's reduction dimension: the axis of input 0 (and of the output) best stored contiguously; none: no wish.
  std::int8_t contiguous_axis = -1;
};

}  // namespace dnnkit
