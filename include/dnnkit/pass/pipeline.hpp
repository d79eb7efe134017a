// SPDX-License-Identifier: MIT
// Pipelines: lists of passes as types. A pass is a type with a name and one of
//   static constexpr graph run(graph)                  from graph to graph; may take decision_notes besides
//   static constexpr void run(schedule&)
//   template <class Target> static constexpr void run(schedule&)     for what depends on the target (cost/target.hpp)
// and, where there are graphs of which no plan is made without it, one more text, `needed`: why.
// The default pipeline is the list below, with the reason for each place; the compiler, the tool, tests and fuzzers run
// it, and nothing else calls a pass.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dnnkit/core/say.hpp"
#include "dnnkit/core/text.hpp"
#include "dnnkit/cost/target.hpp"
#include "dnnkit/graph/name_apart.hpp"
#include "dnnkit/pass/apply_rules.hpp"
#include "dnnkit/pass/break_long_views.hpp"
#include "dnnkit/pass/byte_functions.hpp"
#include "dnnkit/pass/check_extents.hpp"
#include "dnnkit/pass/choose_images.hpp"
#include "dnnkit/pass/choose_kernels.hpp"
#include "dnnkit/pass/expand_composites.hpp"
#include "dnnkit/pass/expand_powers.hpp"
#include "dnnkit/pass/fold_normalizations.hpp"
#include "dnnkit/pass/fold_scales.hpp"
#include "dnnkit/pass/join_recurrent_outputs.hpp"
#include "dnnkit/pass/join_stages.hpp"
#include "dnnkit/pass/lower_transposed_convolution.hpp"
#include "dnnkit/pass/make_plan.hpp"
#include "dnnkit/pass/merge_siblings.hpp"
#include "dnnkit/pass/pass_promises.hpp"
#include "dnnkit/pass/place_parts.hpp"
#include "dnnkit/pass/plan_fusion.hpp"
#include "dnnkit/pass/products_of_vectors.hpp"
#include "dnnkit/pass/propagate_values.hpp"
#include "dnnkit/pass/quantised_products.hpp"
#include "dnnkit/pass/read_through.hpp"
#include "dnnkit/pass/schedule.hpp"
#include "dnnkit/pass/select_layouts.hpp"
#include "dnnkit/pass/separate_outputs.hpp"
#include "dnnkit/pass/share_reductions.hpp"
#include "dnnkit/pass/share_shifts.hpp"
#include "dnnkit/pass/slice_gathers.hpp"
#include "dnnkit/pass/sum_convolutions.hpp"
#include "dnnkit/pass/unmerge_rows.hpp"
#include "dnnkit/pass/unpad_views.hpp"
#include "dnnkit/pass/write_log.hpp"

namespace dnnkit {

namespace detail {

template <class Pass>
concept noting_pass = requires(graph g, decision_notes notes) {
  { Pass::run(static_cast<graph&&>(g), notes) } -> std::same_as<graph>;
};
template <class Pass>
concept graph_pass = noting_pass<Pass> || requires(graph g) {
  { Pass::run(static_cast<graph&&>(g)) } -> std::same_as<graph>;
};

// Of a pass that says nothing of what it does, the log has what came of it.
template <class Pass> constexpr void rewrite(schedule& s) {
  const std::size_t before = s.g.nodes.count;
  s.g = Pass::run(static_cast<graph&&>(s.g));
  s.notes().add({Pass::name, "rewritten", "the pass says no more"},
                {{"before", "operators", static_cast<double>(before)},
                 {"behind", "operators", static_cast<double>(s.g.nodes.count)}});
}

// Is it in the default pipeline? What others do is looked at (pass/pass_promises.hpp).
template <class Pass> struct is_of_library : std::false_type {};

template <class Pass, class Target> constexpr void run_unchecked(schedule& s);
template <class Pass, class Target> constexpr void run_pass(schedule& s) {
  if (!s.is_right()) return;  // what is wrong has been found
  if constexpr (is_of_library<Pass>::value) {
    run_unchecked<Pass, Target>(s);
  } else {
    const graph before = s.g;
    run_unchecked<Pass, Target>(s);
    check_promises(Pass::name, before, s);
  }
}
template <class Pass, class Target> constexpr void run_unchecked(schedule& s) {
  if constexpr (graph_pass<Pass>)
    if (!s.fusion.groups.empty() || !s.layouts.empty() || !s.plan.buffers.empty())
      return s.come_too_late(Pass::name, "kernels or layouts of the graph, which it makes anew,");
  if constexpr (noting_pass<Pass>) s.g = Pass::run(static_cast<graph&&>(s.g), s.notes());
  else if constexpr (graph_pass<Pass>) rewrite<Pass>(s);
  else if constexpr (requires { Pass::template run<Target>(s); }) Pass::template run<Target>(s);
  else if constexpr (requires { Pass::run(s); }) Pass::run(s);
  else
    static_assert(
        !std::is_same_v<Pass, Pass>,
        "dnnkit: a pass has a function run, from graph to graph or on a schedule& (dnnkit/pass/pipeline.hpp)");
  if constexpr (graph_pass<Pass>) s.g.settle();  // whatever it has assumed
}

// The same, unless its name is in the list, which the log then says.
template <class Pass, class Target> constexpr void run_pass(schedule& s, std::span<const std::string_view> left_out) {
  for (std::string_view name : left_out)
    if (name == Pass::name) return s.notes().add({Pass::name, plan::not_run, "the pass was left out"});
  run_pass<Pass, Target>(s);
}

}  // namespace detail

template <class... Passes> struct pipeline {
  // Each pass on what the one before left. The plan's error is that of the graph. after(name of a pass, schedule) is
  // told what each pass has left; `families` are those that kernels are chosen from.
  template <class Target = targets::portable, std::invocable<std::string_view, const schedule&> After>
  static constexpr schedule run(graph g, After after, const family_table& families = {}) {
    schedule s;
    s.g = static_cast<graph&&>(g);
    s.g.settle();
    s.families = families;
    ((detail::run_pass<Passes, Target>(s), after(std::string_view(Passes::name), std::as_const(s))), ...);
    s.plan.error = s.g.error;
    return s;
  }
  template <class Target = targets::portable>
  [[nodiscard]] static constexpr schedule run(graph g, const family_table& families = {}) {
    return run<Target>(
        static_cast<graph&&>(g), [](std::string_view, const schedule&) {}, families);
  }
  // Passes named in `left_out` do not run: what without<> says of a pipeline, said of a run.
  template <class Target = targets::portable>
  [[nodiscard]] static constexpr schedule run(graph g, const family_table& families,
                                              std::span<const std::string_view> left_out) {
    schedule s;
    s.g = static_cast<graph&&>(g);
    s.g.settle();
    s.families = families;
    (detail::run_pass<Passes, Target>(s, left_out), ...);
    s.plan.error = s.g.error;
    return s;
  }
  // The same with every decision written down: the schedule's log is that of the passes, the plan's all that printers
  // say of it (plan/decision.hpp). Operators have names that tell them apart.
  template <class Target = targets::portable>
  [[nodiscard]] static constexpr schedule run_logged(graph g, const family_table& families = {},
                                                     std::span<const std::string_view> left_out = {}) {
    schedule s;
    s.logged = true;
    name_apart(g);
    g.settle();
    s.g = g;
    s.families = families;
    (detail::run_pass<Passes, Target>(s, left_out), ...);
    s.plan.error = s.g.error;
    if (s.is_right() && !s.plan.buffers.empty()) detail::log_writer(s, static_cast<graph&&>(g)).run();
    return s;
  }
};

// What is said of a pass to programs that choose some when they run.
struct pass_facts {
  std::string_view name;
  std::string_view needed;  // why there are graphs of which no plan is made without it; empty when there are none
};

template <class... A, class... B> constexpr pipeline<A..., B...> operator+(pipeline<A...>, pipeline<B...>) {
  return {};
}

namespace detail {
template <class Pipeline, class Keep> struct filtered;
template <class... Passes, class Keep> struct filtered<pipeline<Passes...>, Keep> {
  using type =
      decltype((pipeline<>{} + ... + std::conditional_t<Keep::template keeps<Passes>, pipeline<Passes>, pipeline<>>{}));
};
template <class Pass> struct all_but { template <class P> static constexpr bool keeps = !std::is_same_v<P, Pass>; };
template <fixed_string... Names> struct all_but_called {
  template <class P> static constexpr bool keeps = ((P::name != Names.view()) && ...);
};
struct graph_passes {
  template <class P> static constexpr bool keeps = graph_pass<P>;
};
struct schedule_passes {
  template <class P> static constexpr bool keeps = !graph_pass<P>;
};
template <class Pipeline, class Old, class... New> struct exchanged;
template <class... Passes, class Old, class... New> struct exchanged<pipeline<Passes...>, Old, New...> {
  using type = decltype((pipeline<>{} + ... +
                         std::conditional_t<std::is_same_v<Passes, Old>, pipeline<New...>, pipeline<Passes>>{}));
};
template <class Pass> constexpr std::string_view why_needed() {
  if constexpr (requires { Pass::needed; }) return Pass::needed;
  else return {};
}
template <class Pipeline> struct listed;
template <class... Passes> struct listed<pipeline<Passes...>> {
  static constexpr std::array<pass_facts, sizeof...(Passes)> passes{pass_facts{Passes::name, why_needed<Passes>()}...};
};
template <class Pipeline, class Pass> struct contained;
template <class... Passes, class Pass>
struct contained<pipeline<Passes...>, Pass> : std::bool_constant<(std::is_same_v<Passes, Pass> || ...)> {};

// That a list has no pass of a name, and which it has.
struct missing_pass_text {
  static constexpr std::size_t capacity = 2048;
  char chars[capacity]{};
  std::size_t length = 0;
  constexpr missing_pass_text& operator<<(std::string_view s) {
    for (std::size_t i = 0; i < s.size() && length < capacity; ++i) chars[length++] = s[i];
    return *this;
  }
  constexpr std::string_view view() const { return {chars, length}; }
};
constexpr missing_pass_text missing_pass_error(std::span<const pass_facts> passes, std::string_view name) {
  missing_pass_text t;
  bool is_there = false;
  for (const pass_facts& pass : passes) is_there = is_there || pass.name == name;
  t << "the pipeline has " << (is_there ? "another pass of the name '" : "no pass '") << name << "'; its passes: ";
  for (const pass_facts& pass : passes) t << (&pass == passes.data() ? "'" : ", '") << pass.name << "'";
  return t;
}
constexpr missing_pass_text missing_pass_error(std::span<const pass_facts> passes,
                                               std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) {
    bool is_there = false;
    for (const pass_facts& pass : passes) is_there = is_there || pass.name == name;
    if (!is_there) return missing_pass_error(passes, name);
  }
  return {};
}
template <fixed_string... Message> struct pipeline_error {
  static_assert(sizeof...(Message) == 0,
                "dnnkit: the pipeline is wrong; the reason is the text in pipeline_error<...>");
};
template <class Pipeline, class Pass>
inline constexpr missing_pass_text without_pass = contained<Pipeline, Pass>::value
                                                      ? missing_pass_text{}
                                                      : missing_pass_error(listed<Pipeline>::passes, Pass::name);
template <class Pipeline, fixed_string... Names>
inline constexpr missing_pass_text without_names = missing_pass_error(listed<Pipeline>::passes, {Names.view()...});

// The list, after it was said what is wrong with it.
template <class Pipeline, const missing_pass_text& Problem> struct right_list {
  using said = decltype(say<Problem, pipeline_error>());
  using type = Pipeline;
};
template <class Pipeline, class Pass>
using list_with = typename right_list<Pipeline, without_pass<Pipeline, Pass>>::type;
template <class Pipeline, fixed_string... Names>
using list_with_names = typename right_list<Pipeline, without_names<Pipeline, Names...>>::type;
}  // namespace detail

// Is Pass in the list?
template <class Pipeline, class Pass> inline constexpr bool has_pass = detail::contained<Pipeline, Pass>::value;

// The passes of a list in their order.
template <class Pipeline> inline constexpr const auto& passes_of = detail::listed<Pipeline>::passes;

// The list without one of its passes, and with others in the place of one: replaced<list, pass, pass, mine> puts one
// behind it.
template <class Pipeline, class Pass>
using without = typename detail::filtered<detail::list_with<Pipeline, Pass>, detail::all_but<Pass>>::type;
template <class Pipeline, class Old, class... New>
using replaced = typename detail::exchanged<detail::list_with<Pipeline, Old>, Old, New...>::type;

// The list without passes that are said by their names, as logs have them; each must be that of one.
template <class Pipeline, fixed_string... Names>
using without_called =
    typename detail::filtered<detail::list_with_names<Pipeline, Names...>, detail::all_but_called<Names...>>::type;

// Its passes from graph to graph, and those behind them.
template <class Pipeline> using rewriting_of = typename detail::filtered<Pipeline, detail::graph_passes>::type;
template <class Pipeline> using planning_of = typename detail::filtered<Pipeline, detail::schedule_passes>::type;

namespace passes {
// Rewriting as the default pipeline has it.
using default_rules = apply_rules<rewrite::rules::all>;
// Fusion as the default pipeline has it, with further rules.
template <class... Rules> using default_fusion = plan_fusion<profile_rule, bytes_rule, Rules...>;
}  // namespace passes

// What compile<> uses, with further fusion rules (pass/fusion_rules.hpp), which are asked in order.
template <class... Rules>
using pipeline_with_rules =
    pipeline<passes::propagate_values,              // while what is left out has not been expanded
             passes::byte_functions,                // while quantisations can be told from arithmetic
             passes::quantised_products,            // for the same reason, and they see bytes that were moved as such
             passes::fold_normalizations,           // while they are one operator
             passes::expand_composites,             // later passes see simple operators only
             passes::expand_powers,                 // which composites may have
             passes::products_of_vectors,           // which composites and quantised products may be
             passes::slice_gathers,                 // which composites may have, and are movement from here on
             passes::share_reductions,              // which composites have each for itself
             passes::default_rules,                 // so that none of them sees what is computed twice
             passes::join_recurrent_outputs,        // while operators have the operands that the model gives them
             passes::unmerge_rows,                  // while normalisations stand beside their Reshapes
             passes::lower_transposed_convolution,  // so that all further passes know one kind of convolution
             passes::unpad_views,                   // of which nothing is left that others might see
             passes::share_shifts,                  // before scales, of which one shift is then the bias of a product
             passes::fold_scales,                   // before fusion, which would keep the scales
             passes::sum_convolutions,              // behind scales, which would keep their sum apart
             passes::merge_siblings,                // behind scales, which would keep products apart
             passes::read_through,                  // while it sees what convolutions read, padded or not
             passes::break_long_views,              // behind whatever makes movement operators
             passes::separate_outputs,              // last of these: it also drops what no output depends on
             passes::check_extents,                 // a plan has no room for extents that elements decide
             passes::default_fusion<Rules...>,
             passes::select_layouts,  // whose subject is what kernels hand to each other
             passes::place_parts,     // of which it sees who writes and reads parts, and in what order
             passes::join_stages,     // which asks families of kernels about recipes, and these have layouts
             passes::choose_images,   // which asks kernels whether they can write them
             passes::make_plan,
             passes::choose_kernels>;  // whose subject is the plan's recipes
using default_pipeline = pipeline_with_rules<>;

namespace detail {
template <class Pass>
requires has_pass<default_pipeline, Pass>
struct is_of_library<Pass> : std::true_type {
};
}  // namespace detail

}  // namespace dnnkit
