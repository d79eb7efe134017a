// SPDX-License-Identifier: MIT
// From a model (a type with a constexpr build) to a compiled network (a type with a constexpr plan).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "dnnkit/core/say.hpp"
#include "dnnkit/core/text.hpp"
#include "dnnkit/cpu/families.hpp"
#include "dnnkit/graph/builder.hpp"
#include "dnnkit/graph/frozen_graph.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "dnnkit/plan/frozen.hpp"

namespace dnnkit {

namespace detail {

template <fixed_string... Message> struct model_error {
  static_assert(sizeof...(Message) == 0, "dnnkit: the model is wrong; the reason is the text in model_error<...>");
};

// What a graph is built for: the evaluator takes inputs of extents that are not known, a compiled network does not.
enum class purpose : std::uint8_t { evaluation, compilation };

template <class Model, purpose Purpose> constexpr graph build_graph() {
  builder b;
  graph& g = b.value();
  if constexpr (requires { Model::build(b); }) Model::build(b);
  else g.error = said_by_compiler;
  if constexpr (Purpose == purpose::compilation) b.require_known_inputs();
  if (g.error.empty() && g.outputs.empty())
    g.error = "the model names no output, unless the compiler has left out a statement that it reports as an error";
  if (!g.error_place.empty() && g.error.view() != said_by_compiler) {
    text whole = g.error_place;
    g.error_reason += whole.length + 2;
    g.error = whole << ": " << g.error;
    g.error_place = {};
  }
  return std::move(g);
}

template <class Model, class Pipeline> struct rewrite_graph_of {
  constexpr graph operator()() const {
    return rewriting_of<Pipeline>::run(build_graph<Model, purpose::compilation>()).g;
  }
};

template <class Model, class Target, class Pipeline> struct make_plan_of {
  constexpr plan_draft operator()() const {
    return Pipeline::template run<Target>(
               build_graph<Model, purpose::compilation>(),
               family_table(decltype(cpu::families_of_model<Model>())::table, tuned_of<Model>()))
        .plan;
  }
};
template <class Model, class Target, class Pipeline> struct make_logged_plan_of {
  constexpr plan_draft operator()() const {
    return Pipeline::template run_logged<Target>(
               build_graph<Model, purpose::compilation>(),
               family_table(decltype(cpu::families_of_model<Model>())::table, tuned_of<Model>()))
        .plan;
  }
};

// The value of a constant expression is not needed, only that it is one.
constexpr bool evaluated(const auto&) { return true; }

// Where build() cannot be evaluated the compiler says here at what, or that build() is not declared constexpr.
template <class Model> struct build_must_be_a_constant_expression {
  static constexpr bool holds = evaluated(build_graph<Model, purpose::compilation>());
};
template <class Model>
concept builds_constant = requires {
  typename std::bool_constant<evaluated(build_graph<Model, purpose::compilation>())>;
};
// Where Make is no constant expression: why.
template <class Model, class Make> constexpr bool say_what_is_no_constant() {
  if constexpr (builds_constant<Model>) return std::bool_constant<evaluated(Make{}())>::value;
  else return build_must_be_a_constant_expression<Model>::holds;
}

// What is wrong with a plan of Model: what was wrong with the graph, or an operator no kernel can be made of.
template <class Model> constexpr text problem_of(const plan_view& plan) {
  if (!plan.error.empty()) return plan.error;
  if (plan.buffers.empty()) return text("the pipeline makes no plan: it lacks the pass make_plan");
  using set = typename set_of_model<Model>::type;
  vector<operator_id> known{operator_id::none};
  text problem;
  const auto check = [&](const operator_tag& op) {
    for (operator_id id : known)
      if (id == op.id) return;
    known.push_back(op.id);
    if (set::find(op.id) != set::size || !problem.empty()) return;
    problem << "the model uses the operator " << op.name << ", which is in no op_set; give the model a member "
            << "`static constexpr auto ops = dnnkit::builtin_ops + dnnkit::op_set<...>{}`";
  };
  for (const recipe& r : plan.recipes) check(r.anchor);
  for (const recipe& r : plan.stages) check(r.anchor);
  for (const recipe_node& n : plan.nodes) check(n.op);
  for (const movement_step& m : plan.movement) check(m.op);
  return problem;
}

template <class Model, class Make> inline constexpr text problem = problem_of<Model>(view_of(freeze<Make>::value));

template <class Model, class Make> constexpr auto say_problem() {
  if constexpr (makes_constant<Make>) return say<problem<Model, Make>, model_error>();
  else return say_what_is_no_constant<Model, Make>();
}

template <class Model> struct target_of { using type = targets::native; };
template <class Model>
requires requires { typename Model::target; }
struct target_of<Model> {
  using type = typename Model::target;
};
template <class Model> struct pipeline_of { using type = default_pipeline; };
template <class Model>
requires requires { typename Model::pipeline; }
struct pipeline_of<Model> {
  using type = typename Model::pipeline;
};

}  // namespace detail

// The graph as the model builds it: for printing, for the reference evaluator.
template <class Model> [[nodiscard]] constexpr graph graph_of() {
  return detail::build_graph<Model, detail::purpose::evaluation>();
}

// The graph behind the rewriting passes, whose nodes the plan's steps number; at run time too the one the compiler
// made.
template <class Model, class Pipeline = typename detail::pipeline_of<Model>::type>
constexpr graph rewritten_graph_of() {
  using make = detail::rewrite_graph_of<Model, Pipeline>;
  if (std::is_constant_evaluated()) return make{}();
  return frozen_graph<make>::thaw();
}

// Model: a type with `static constexpr void build(dnnkit::builder&)`, and members `ops` naming its op_set when it uses
// operators that are not the library's, `families` naming its list of kernel families when it has others, `tuned`
// naming a table of what was measured of its kernels when there is one, `target` when it is not for that of the unit's
// flags, and `pipeline` when other passes are to run than the default ones. All passes run when this type is completed;
// a wrong model is a compile error that names the operator and what disagrees.
template <class Model, class Target = typename detail::target_of<Model>::type,
          class Pipeline = typename detail::pipeline_of<Model>::type>
struct compile {
  static_assert(
      requires(builder & g) { Model::build(g); },
      "dnnkit: a model is a type with a member `static constexpr void build(dnnkit::builder&)`");
  using model = Model;
  using target = Target;
  using pipeline = Pipeline;
  using make = detail::make_plan_of<Model, Target, Pipeline>;
  using frozen_plan = decltype(plan::freeze<make>::value);
  static constexpr const frozen_plan& frozen = plan::freeze<make>::value;

  // Of a model that is wrong, whose plan is empty, nothing else is said.
  static constexpr bool is_right = detail::problem<Model, make>.empty();
  using problem = decltype(detail::say_problem<Model, make>());

  static constexpr plan_view plan = is_right ? plan::view_of(frozen) : plan_view{};
  // The plan's record alone, and behind the plan: for the compiler and for printers.
  static constexpr plan_view record() {
    return is_right ? plan::view_of(plan::freeze_record<make>::value) : plan_view{};
  }
  static constexpr plan_view recorded_plan() { return plan::with_record(plan, record()); }
  // The plan with its log (plan/decision.hpp), which printers read; a second object, made only for programs that print.
  [[nodiscard]] static constexpr plan_view logged_plan() {
    using logged = detail::make_logged_plan_of<Model, Target, Pipeline>;
    return is_right ? plan::with_record(plan::view_of(plan::freeze<logged>::value),
                                        plan::view_of(plan::freeze_record<logged>::value))
                    : plan_view{};
  }

  // Which family carries out each recipe (cpu/kernels.hpp), out of these.
  using families = decltype(cpu::families_of_model<Model>());
  static constexpr std::span<const kernel_choice> choices = record().choices;

  static constexpr std::size_t kernels = frozen.steps.size();             // kernels one run calls, in all branches
  static constexpr std::size_t distinct_kernels = frozen.recipes.size();  // instantiations, those of the setup included
  static constexpr std::int64_t arena_bytes = frozen.arena_bytes;         // 0 when sizes are bound at run time
  static constexpr bool is_static = frozen.is_static;
};

}  // namespace dnnkit
