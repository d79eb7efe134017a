// SPDX-License-Identifier: MIT
// Why two operators are or are not computed by one kernel: the reasons fusion planning can have, in words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/namespaces.hpp"

namespace dnnkit::plan {

enum class fusion_reason : std::uint8_t {
  nothing,
  // fused
  predecessor,
  successor,
  prologue,
  prologue_again,
  stored_by_producer,
  // refused by the table or by a rule
  mapping_types,
  profile,
  rule,
  // refused by what one kernel can compute
  one_anchor,
  whole_operator,
  too_many_operators,
  too_many_operands,
  too_many_evaluations,
  other_branches,
  nothing_to_store,
  path_returns,
  different_shapes,
  several_coordinates,
  epilogue_coordinates,
  no_bijection,
  broadcast_behind_anchor,
  beside_anchor,
  no_view,
  stored_by_none,
  // no prologue
  several_results,
  stored_anyway,
  read_elsewhere,
  too_dear,
  read_behind_anchor,
  // not asked, because of what had been decided before
  in_another_kernel,
  moved_operand_of_successor,
  spread_over_successor,
  kernels_wait,
  count
};

struct fusion_words {
  std::string_view name, meaning;
};

// In the order of fusion_reason.
inline constexpr std::array<fusion_words, static_cast<std::size_t>(fusion_reason::count)> fusion_words_of_reasons{{
    {"", ""},
    {"predecessor", "it computes what the kernel reads, which is then computed there and not loaded"},
    {"successor", "it reads what the kernel computes, and is computed before that is stored"},
    {"prologue", "its result is computed while the anchor's operand is read"},
    {"prologue, computed again", "the same in several kernels, which costs less than storing and loading it"},
    {"stored by its producer", "it only moves elements, and the kernel before writes them where they belong"},
    {"mapping types", "DNNFusion's Table 3.3 forbids the pair of mapping types"},
    {"profile", "a yellow cell of Table 3.3: two kernels were measured to take less time, or the cost model says so"},
    {"rule", "a rule of the pipeline's own"},
    {"one anchor a kernel", "an anchor is an operator that is neither element-wise nor movement"},
    {"an operator that computes its output as a whole", "it has a kernel of its own"},
    {"too many operators for one kernel",
     "as many as three registers each allow are the most: 48, or 96 where there are 32"},
    {"too many operands for one kernel",
     "as many as there are registers for vectors, 16 or 32, and room in the first cache; constants of one element "
     "aside"},
    {"a value that one kernel would compute again and again",
     "it is read through several views, each of which computes it; 4 are the most"},
    {"not both in the same branches", "one of them runs only on a condition"},
    {"nothing to store", "nobody would read the kernel's result"},
    {"a path leaves the kernel and comes back", "another kernel would have to run in the middle of this one"},
    {"outputs of different shapes", "a kernel has one iteration space"},
    {"several outputs in different coordinates", "movement lies between the results"},
    {"operands of the epilogue in different coordinates", "movement lies between what is read behind the anchor"},
    {"only bijections can follow the anchor", "each element that the anchor computes is stored once"},
    {"broadcast behind the anchor", "each element that the anchor computes is stored once"},
    {"a value beside the anchor's iteration space is read elsewhere", "the kernel would have to store it"},
    {"movement behind the anchor that no view can undo", "the anchor could not store its elements in place"},
    {"an operand that no kernel stores", "it would have to be stored before this one runs"},
    {"it has several results", "a prologue has one"},
    {"its result is stored anyway", "it is an output of the network, or a condition"},
    {"its result is read by others than anchors", "it must be stored for those"},
    {"too dear to compute in each of its readers",
     "a prologue of several has at most four operators and one large operand"},
    {"its result is also read behind the anchor", "a prologue is computed as the anchor reads it"},
    {"in another kernel already", "kernels grow one after the other, from the smallest element-wise result on"},
    {"an operand of a successor, with movement between",
     "kernels grow to what a successor reads besides only where neither is moved"},
    {"spread over a larger operand, with movement between",
     "the successor goes with the kernel that computes the larger one"},
    {"kernels that wait for each other", "one of them was taken apart again"},
}};
constexpr const fusion_words& words_of(fusion_reason r) { return fusion_words_of_reasons[static_cast<std::size_t>(r)]; }

}  // namespace dnnkit::plan
