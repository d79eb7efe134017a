// SPDX-License-Identifier: MIT
// The cases of tests/op/cases (written by tests/op/make_cases: single operators with ONNX Runtime's results), read
// into graphs of one node and run through the reference evaluator.
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace operator_cases {

// The names of the operators of which there are cases.
std::set<std::string> names_in_all_families();

struct outcome {
  std::size_t cases = 0, symbolic_graphs = 0;
  std::set<std::string> operators;
};

// Runs every case of a family, with the shapes as they are and then again with each extent replaced by a symbol, where
// the operator's inference allows one.
outcome run(const std::string& family, double tolerance = 4e-6);

}  // namespace operator_cases
