// SPDX-License-Identifier: MIT
// From a model (a type with a constexpr build) to a compiled network (a type with a constexpr plan).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/graph/frozen_graph.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "dnnkit/plan/frozen.hpp"

namespace dnnkit {

namespace detail {

// Compilers print the template arguments when the assertion fails: they are the message. Clang leaves out what is
// beyond some thirty characters of a string, so there it comes in pieces that end between words.
template <fixed_string... Message> struct model_error {
  static constexpr bool ok = sizeof...(Message) == 0;
  static_assert(ok, "dnnkit: the model is wrong; the reason is the text in model_error<...>");
};
#ifdef __clang__
inline constexpr std::size_t longest_piece = 32;
#else
inline constexpr std::size_t longest_piece = text::capacity;
#endif

// Where the piece of a message that begins at `first` ends.
constexpr std::size_t end_of_piece(std::string_view message, std::size_t first) {
  if (message.size() - first <= longest_piece) return message.size();
  const std::size_t space = message.rfind(' ', first + longest_piece - 1);
  return space == message.npos || space <= first ? first + longest_piece : space + 1;
}

template <class Model> constexpr graph build_graph() {
  builder g;
  Model::build(g);
  if (g.value().error.empty() && g.value().outputs.empty()) g.value().error << "the model names no output";
  return std::move(g.value());
}

template <class Model, class Pipeline> struct rewrite_graph_of {
  constexpr graph operator()() const { return rewriting_of<Pipeline>::run(build_graph<Model>()).g; }
};

template <class Model, class Target, class Pipeline> struct make_plan_of {
  constexpr plan_draft operator()() const { return Pipeline::template run<Target>(build_graph<Model>()).plan; }
};

template <class Make, std::size_t First, fixed_string... Pieces> constexpr bool check_message() {
  constexpr std::string_view message = freeze<Make>::value.error.view();
  if constexpr (First == message.size()) {
    return model_error<Pieces...>::ok;
  } else {
    constexpr std::size_t end = end_of_piece(message, First);
    return check_message<Make, end, Pieces..., to_fixed<end - First>(message.substr(First))>();
  }
}
template <class Make> constexpr bool check_model() { return check_message<Make, 0>(); }

}  // namespace detail

// The graph as the model builds it: for printing, for the reference evaluator.
template <class Model> constexpr graph graph_of() { return detail::build_graph<Model>(); }

// The graph behind the rewriting passes, whose nodes the plan's steps number; at run time too the one the compiler
// made.
template <class Model, class Pipeline = default_pipeline> constexpr graph rewritten_graph_of() {
  using make = detail::rewrite_graph_of<Model, Pipeline>;
  if (std::is_constant_evaluated()) return make{}();
  return frozen_graph<make>::thaw();
}

// Model: a type with `static constexpr void build(dnnkit::builder&)`, and a member `ops` naming its op_set when it uses
// operators that are not the library's. All passes run when this type is completed; a wrong model is a compile error
// that names the operator and what disagrees.
template <class Model, class Target = targets::native, class Pipeline = default_pipeline> struct compile {
  static_assert(
      requires(builder & g) { Model::build(g); },
      "dnnkit: a model is a type with a member `static constexpr void build(dnnkit::builder&)`");
  using model = Model;
  using target = Target;
  using pipeline = Pipeline;
  using make = detail::make_plan_of<Model, Target, Pipeline>;
  static_assert(detail::check_model<make>());

  static constexpr const auto& frozen = freeze<make>::value;
  static constexpr plan_view plan = view_of(frozen);

  static constexpr std::size_t kernels = frozen.steps.size();             // kernels one run calls, in all branches
  static constexpr std::size_t distinct_kernels = frozen.recipes.size();  // instantiations, those of the setup included
  static constexpr std::int64_t arena_bytes = frozen.arena_bytes;         // 0 when sizes are bound at run time
  static constexpr bool is_static = frozen.is_static;
};

}  // namespace dnnkit
