// SPDX-License-Identifier: MIT
// The log of a plan: what its passes decided, why, and at what costs, and what its kernels are made of. Rows of tables
// that printers read and nothing else (plan/plan.hpp); text, numbers and dimensions lie in the plan's pools. A plan has
// a log where one was asked for (pass/pipeline.hpp, logged).
#pragma once

#include <cstdint>
#include <string_view>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/operator/traits.hpp"
#include "dnnkit/plan/recipe.hpp"

namespace dnnkit::plan {

// A number that a decision compared with others of its unit, or the threshold it compared with.
struct compared_cost {
  std::string_view what, unit;
  double amount = 0;
};

// The verdict on a pass that was left out of a run (pass/pipeline.hpp).
inline constexpr std::string_view not_run = "not run";

// One decision of a pass: about an edge of the graph (`second` reads the output of `first`, also through movement
// operators), about a value, or about operators that a rewriting pass replaced, which only their names are left of.
struct decision {
  std::string_view pass;
  std::string_view verdict;       // what was decided, "not fused"
  std::string_view reason;        // why, in a few words,
  std::string_view meaning = {};  // and in a sentence that says what they mean
  std::string_view rule = {};     // the user's rule that decided; empty when none did
  node_id first = none, second = none;
  value_id value = none;
  slice_of operators = {};      // of a rewriting pass: "Mul 'bn1'",
  slice_of result = {};         // and what it is part of or was replaced by;
  slice_of by = {};             // of a rule of rewriting: its equation and its licence
  slice_of costs = {};          // those compared
  bool applied = true;          // something is otherwise because of it
  bool asked = true;            // false: the question did not arise, because of what had been decided before
  bool compares_types = false;  // the reason is the mapping types along the edge
};

// What printers say of the graph that the steps number (step::nodes), and of its values.
struct logged_node {
  operator_tag op;
  mapping type = mapping::one_to_one;
  slice_of name;
  slice_of inputs;  // numbers: values; none for an optional input left out
  value_id output = none;
  std::int32_t home = none;  // the kernel that stores its output, else the last one that computes it
};
struct logged_value {
  slice_of name;
  tensor_type type;
  origin from = origin::node;
  node_id producer = none;
  std::int32_t buffer = none;  // of the plan
};

// What is fused into one: a kernel, or a stage of it.
struct logged_stage {
  mapping type = mapping::one_to_one;  // of its operators together
  slice_of operators;                  // numbers: its nodes in the order in which they are computed
  slice_of views;                      // numbers: movement operators between what is stored and its nodes
};

// One a step, those of the setup first.
struct logged_kernel {
  slice_of stages;                        // in their order
  slice_of outputs;                       // numbers: the values it stores
  dim bytes_read = 0, bytes_written = 0;  // each element once; of one that indices pick from, as many as are picked
  dim intermediates_read = 0, intermediates_written = 0;  // those of them in the arena, in bytes
};

// The graph as it was built: live operators, and what one run of it would take if each had a kernel of its own.
struct graph_totals {
  std::int64_t operators = 0;
  dim flops = 0, bytes_moved = 0, bytes_of_intermediates = 0;
};

}  // namespace dnnkit::plan
