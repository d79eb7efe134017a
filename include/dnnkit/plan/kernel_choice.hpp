// SPDX-License-Identifier: MIT
// Kernel choices: which family of kernels carries out a recipe, how it reads the operands, what that is expected to
// cost, and what else there was. Written by the pass that chooses kernels, read by the kernels' templates and by
// printers.
#pragma once

#include <cstdint>
#include <string_view>

#include "dnnkit/core/static_vector.hpp"
#include "dnnkit/cost/estimate.hpp"
#include "dnnkit/cost/tuned.hpp"
#include "dnnkit/graph/graph.hpp"

namespace dnnkit {

// How a kernel reads an operand of its anchor.
enum class operand_reading : std::uint8_t {
  absent,           // left out, or there is no such operand
  in_place,         // by pointer, where it is stored
  evaluated,        // through its view, with what is computed from it on the way, wherever an element is needed
  staged,           // brought into scratch memory first, as the kernel wants it, each element once a run
  packed_each_run,  // into panels in scratch memory, once a run
  packed_once       // into panels that are kept with the weights
};

// The vectors of a kernel.
struct kernel_tile {
  std::int8_t along = -1;    // the axis that vectors run along, in the iteration space; -1: none
  std::uint8_t lanes = 1;    // elements of a vector; 1: element by element
  std::uint8_t vectors = 1;  // so many of them next to each other at the most, as in a panel of weights
  std::uint8_t rows = 0;     // so many rows of them at the most; 0: as many as registers hold

  friend constexpr bool operator==(const kernel_tile&, const kernel_tile&) = default;
};

// Where a family that could have carried out the recipe ended.
struct kernel_alternative {
  std::string_view family;
  bool matches = false;
  kernel_cost cost;         // if it matches
  std::string_view reason;  // why it matches, or why not
};

// One a recipe, then one for each earlier stage (plan_view::stage_numbered).
struct kernel_choice {
  std::string_view family;
  std::uint16_t number = 0;                    // of the family in its list
  static_vector<operand_reading, 4> operands;  // of the anchor; further ones are read as the last of these
  static_vector<std::uint8_t, 8> walk;         // axes of the reduction, outermost first, where they are not in order
  kernel_tile tile;
  bool left_to_compiler = false;              // a loop over single elements that compilers make vectors of
  static_vector<std::int32_t, 8> parameters;  // whatever else the family decided, in an order of its own
  kernel_genes genes;                         // what the kernel has of what may be asked for; 0: nothing of it
  kernel_cost cost;
  std::string_view reason;
  slice_of alternatives;  // the other families that were asked
};

constexpr std::string_view name_of(operand_reading r) {
  switch (r) {
    case operand_reading::absent:
      return "absent";
    case operand_reading::in_place:
      return "in place";
    case operand_reading::evaluated:
      return "evaluated where it is read";
    case operand_reading::staged:
      return "staged";
    case operand_reading::packed_each_run:
      return "packed each run";
    case operand_reading::packed_once:
      return "packed once";
  }
  return "";
}

}  // namespace dnnkit
