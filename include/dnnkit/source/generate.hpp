// SPDX-License-Identifier: MIT
// The generator: a graph becomes the C++ source of a model that a person could have written, and may edit.
#pragma once

#include <string>
#include <string_view>

#include "dnnkit/graph/graph.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit {

namespace generation {

template <class Set> struct generator { static std::string run(const graph& g, std::string_view name); };
#ifdef DNNKIT_INSTANTIATED_ELSEWHERE  // a program of several files may compile the generator in one of them
extern template struct generator<builtin_set>;
#endif

// The C++ source of a model that builds `g` (up to the numbering of values and the names of nodes): a struct called
// `name` with a member build(). Weights are bound by their names. `operators` names the operators that may occur.
// Throws dnnkit::error when `name` cannot be that of a type (source/identifiers.hpp).
template <class Set = builtin_set>
[[nodiscard]] std::string generate_model(const dnnkit::graph& g, std::string_view name, Set = {}) {
  return generation::generator<Set>::run(g, name);
}

}  // namespace generation

}  // namespace dnnkit

#ifndef DNNKIT_INSTANTIATED_ELSEWHERE
#include "dnnkit/source/model_writer.hpp"
#endif
