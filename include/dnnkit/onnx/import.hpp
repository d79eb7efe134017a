// SPDX-License-Identifier: MIT
// From an ONNX model to a graph; import/rounds.hpp says how.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/onnx/format/model.hpp"
#include "dnnkit/onnx/format/read_model.hpp"
#include "dnnkit/onnx/import/result.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/weights/host_weights.hpp"

namespace dnnkit::onnx {

namespace detail {

class import_walk;
template <class Walk> struct importer {
  static import_result run(const onnx::model& m, import_options options);
  static std::vector<std::string_view> operators();            // of ONNX's that it imports, by name
  static std::vector<std::string_view> microsoft_operators();  // of the domain com.microsoft
};
#ifdef DNNKIT_INSTANTIATED_ELSEWHERE  // a program of several files may compile the importer in one of them
extern template struct importer<import_walk>;
#endif

}  // namespace detail

// Imports `m`, whose tensors `options.load` reads. Never throws for what is in the model: every problem is in the
// result, and the graph is only there when there is none.
[[nodiscard]] inline import_result import_model(const onnx::model& m, import_options options) {
  return detail::importer<detail::import_walk>::run(m, std::move(options));
}

// A loader that reads tensors of `f`, which must outlive it.
[[nodiscard]] inline tensor_loader loader_of(file& f) {
  return [&f](const tensor_data& t) { return to_host_tensor(f.elements(t).tensor()); };
}

// Imports the model in `f`, which must outlive the result.
[[nodiscard]] inline import_result import_model(file& f, import_options options = {}) {
  options.load = loader_of(f);
  return import_model(f.model(), options);
}

// A weight source over the model's file for the reference evaluator; both must outlive it.
[[nodiscard]] inline weight_source weights_of(file& f, const import_result& imported) {
  return [&f, &imported](std::string_view name) {
    const auto found = imported.weights.find(name);
    if (found == imported.weights.end()) throw error("tensor is missing", "weight '" + std::string(name) + "'");
    return to_host_tensor(f.elements(*found->second).tensor());
  };
}

}  // namespace dnnkit::onnx

#ifndef DNNKIT_INSTANTIATED_ELSEWHERE
#include "dnnkit/onnx/import/rounds.hpp"
#endif
