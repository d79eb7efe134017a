// SPDX-License-Identifier: MIT
// The cases of tests/op/cases (written by tests/op/make_cases: single operators with ONNX Runtime's results), read
// into graphs of one node and run through the reference evaluator.
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace operator_cases {

// The files of cases, without their ending.
std::set<std::string> families();

// The names of the operators of which there are cases.
std::set<std::string> names_in_all_families();

struct outcome {
  std::size_t cases = 0, symbolic_graphs = 0;
  std::set<std::string> operators;
};

// Runs every case of a family, with the shapes as they are and then again with each extent replaced by a symbol, where
// the operator's inference allows one.
outcome run(const std::string& family, double tolerance = 4e-6);

struct footprint_outcome {
  std::size_t edges = 0;  // inputs of cases whose elements were changed one by one
  // What is wrong, a line each: a changed element that changes an output element which does not need it, or an edge of
  // a more complex mapping type than the operator declares (an element-wise one: of what does not broadcast), or
  // another class of dynamism: unknown extents but of edo, and no element read but of isdo, whose operators read none.
  std::set<std::string> faults;
  // Operators and inputs ("Softmax 0") of which no case shows that one output element depends on several positions of
  // an axis that its footprint calls whole.
  std::set<std::string> wider_than_needed;
};

struct known_outcome {
  // Operators that say that they can be computed on known values and of which there are cases on small tensors of
  // integers or truth values, and those of which the pass computed such a case.
  std::set<std::string> said, computed;
};

// Gives the inputs of such cases as constants, and compares what the pass propagate_values makes of the operator.
known_outcome check_known_values(const std::string& family);

// Changes every element of every input of the cases of a family, one at a time, and compares what changes with the
// operator's footprint.
footprint_outcome check_footprints(const std::string& family);

}  // namespace operator_cases
