// SPDX-License-Identifier: MIT
// Families of kernels. A family is a type:
//
//   struct mine {
//     static constexpr std::string_view name = "mine";
//     static constexpr bool carries_out(const plan::operator_tag& anchor);  // is it asked about this anchor?
//     static constexpr kernel_match match(const kernel_spec& spec, const cpu_facts& facts);
//     template <class Net, std::size_t R> struct kernel;                 // cpu/kernel.hpp says what it has
//   };
//
// Families of a GPU's kernels take `const gpu_facts&` instead (cost/gpu_facts.hpp). A list has families of one kind,
// that of the target that it is for.
//
// A family of kernels of several stages has, instead of carries_out,
//     static constexpr tile_wish joins(std::span<const plan::operator_tag> anchors, const cpu_facts& facts);
// which says whether, and in what tiles, it may carry out stages with these anchors; match() is then given the last of
// them, which knows the others (kernel_spec::stage). It may have
//     static constexpr std::int32_t positions(const kernel_spec& spec, const cpu_facts& facts);
// the positions of the best tile for stages that it was shown in tiles as joins() wished, and
//     static constexpr kernel_match stage(const kernel_spec& spec, const cpu_facts& facts);
// the choice that kernel<Net, S> of an earlier stage S is made from; without it, there is none.
//
// A family whose kernels compute sums in another way than as products added up has
//     template <accuracy A> using within = ...;
// the family that keeps to a model's accuracy, and says why where it cannot.
//
// match() decides everything, but for what spec.genes() asks for, which it takes where its kernels can, and says in the
// choice what they have of it. It returns a kernel_choice with its cost, 0 or more cycles, or no_match{"why"}. It is
// asked in the compiler and, by printers of graphs made at run time, in a program. kernel<Net, R> reads Net::choices[R]
// and decides nothing. The cheapest match of a list carries out a recipe (pass/choose_kernels.hpp); of equals the
// first.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dnnkit/cost/accuracy.hpp"
#include "dnnkit/cost/target_facts.hpp"
#include "dnnkit/cost/tuned.hpp"
#include "dnnkit/operator/op_set.hpp"
#include "dnnkit/plan/kernel_choice.hpp"
#include "dnnkit/plan/kernel_spec.hpp"

namespace dnnkit {

// Why a family does not carry out a recipe.
struct no_match {
  std::string_view reason;
};

// A choice, or why there is none.
class kernel_match {
 public:
  constexpr kernel_match() = default;
  constexpr kernel_match(const kernel_choice& choice) : choice_(choice), matches_(true) {}
  constexpr kernel_match(no_match why) { choice_.reason = why.reason; }

  constexpr explicit operator bool() const { return matches_; }
  constexpr const kernel_choice& operator*() const { return choice_; }
  constexpr const kernel_choice* operator->() const { return &choice_; }
  constexpr std::string_view reason() const { return choice_.reason; }
  // Says what the kernel was measured to take.
  constexpr void set_measured(double microseconds) { choice_.cost.measured = microseconds; }
  // Says the choice's time in seconds, for what it says in cycles.
  constexpr void set_time(target_facts facts) { choice_.cost.microseconds = microseconds(facts, choice_.cost); }

 private:
  kernel_choice choice_;
  bool matches_ = false;
};

// The tiles in which a family would run stages: `positions` of the innermost axis that tiles cut, one of each outer
// axis. Without positions: not at all.
struct tile_wish {
  std::int32_t positions = 0;
  std::uint8_t whole_axes = 1;  // so many axes that the last stage stores innermost are never cut,
  axis_set whole = {};          // nor are those that decide which positions of these axes of the first stage are needed
  double least_bytes = 0;       // what is handed over has at least so many: of less there is nothing to gain
  double most_bytes = 1e300;    // and at most so many
  bool one_tile = false;        // a tile is all of it, whatever axes there are: stages run once, one after the other
  bool keeps = false;           // others may read what is handed over, too: it is then stored, and all is one tile
};

// A family as a value.
struct kernel_family {
  std::string_view name;
  bool (*carries_out)(const plan::operator_tag& anchor);
  kernel_match (*match)(const kernel_spec&, target_facts);
  tile_wish (*joins)(std::span<const plan::operator_tag> anchors, target_facts);
  std::int32_t (*positions)(const kernel_spec&, target_facts);  // 0: those of the wish
  kernel_match (*stage)(const kernel_spec&, target_facts);

  // Is it asked about this specification?
  constexpr bool is_asked(const kernel_spec& spec, target_facts facts) const {
    if (spec.stages() == 1) return carries_out(spec.self().anchor);
    vector<plan::operator_tag> anchors;
    for (std::size_t i = 0; i < spec.stages(); ++i) anchors.push_back(spec.stage(i).self().anchor);
    return joins({anchors.items, anchors.count}, facts).positions > 0;
  }
};

namespace detail {
template <class T>
concept has_single_stages = requires(const operator_tag& anchor) {
  { T::carries_out(anchor) } -> std::same_as<bool>;
};
template <class T, class Facts>
concept matches_by = requires(const kernel_spec& spec, const Facts& facts) {
  { T::match(spec, facts) } -> std::same_as<kernel_match>;
};
// Whose facts a family asks for.
template <class T> using facts_for = std::conditional_t<matches_by<T, cpu_facts>, cpu_facts, gpu_facts>;
template <class T>
concept joins_stages = requires(std::span<const operator_tag> anchors, const facts_for<T>& facts) {
  { T::joins(anchors, facts) } -> std::same_as<tile_wish>;
};
template <class T> constexpr bool carries_out(const operator_tag& anchor) {
  if constexpr (has_single_stages<T>) return T::carries_out(anchor);
  else return false;
}
template <class T> constexpr kernel_match match(const kernel_spec& spec, target_facts facts) {
  return T::match(spec, facts.as<facts_for<T>>());
}
template <class T> constexpr tile_wish joins(std::span<const operator_tag> anchors, target_facts facts) {
  if constexpr (joins_stages<T>) return T::joins(anchors, facts.as<facts_for<T>>());
  else return {};
}
template <class T> constexpr std::int32_t positions(const kernel_spec& spec, target_facts of) {
  const facts_for<T>& facts = of.as<facts_for<T>>();
  if constexpr (requires { T::positions(spec, facts); }) return T::positions(spec, facts);
  else return 0;
}
template <class T> constexpr kernel_match choice_of_stage(const kernel_spec& spec, target_facts of) {
  const facts_for<T>& facts = of.as<facts_for<T>>();
  if constexpr (requires { T::stage(spec, facts); }) return T::stage(spec, facts);
  else return no_match{};
}
template <class T> constexpr kernel_family family_of() {
  return {T::name, &carries_out<T>, &match<T>, &joins<T>, &positions<T>, &choice_of_stage<T>};
}
}  // namespace detail

template <class T>
concept kernel_family_type = requires {
  { T::name } -> std::convertible_to<std::string_view>;
}
&&(detail::matches_by<T, cpu_facts> || detail::matches_by<T, gpu_facts>)&&(detail::has_single_stages<T> ||
                                                                           detail::joins_stages<T>);

namespace detail {
// The family that keeps to an accuracy: most are the same for all.
template <class Family, accuracy A> struct family_within { using type = Family; };
template <class Family, accuracy A>
requires requires { typename Family::template within<A>; }
struct family_within<Family, A> {
  using type = typename Family::template within<A>;
};
}  // namespace detail

// A list of families; families + family_list<mine>{} is a longer one.
template <kernel_family_type... Families> struct family_list {
  static constexpr std::size_t size = sizeof...(Families);
  static constexpr std::array<kernel_family, size> table{detail::family_of<Families>()...};

  template <std::size_t I>
  using at = typename decltype(detail::type_at<I>(
      std::declval<detail::numbered_list<std::index_sequence_for<Families...>, Families...>>()))::type;

  // The same list, of families that keep to this accuracy.
  template <accuracy A> constexpr family_list<typename detail::family_within<Families, A>::type...> within() const {
    return {};
  }
  template <class... More> constexpr family_list<Families..., More...> operator+(family_list<More...>) const {
    return {};
  }
};

// Which families the pass that chooses kernels asks, and what was measured of their kernels; without families it
// chooses none.
class family_table {
 public:
  constexpr family_table() = default;
  constexpr family_table(std::nullopt_t) {}
  template <class Families>
  requires std::convertible_to<const Families&, std::span<const kernel_family>>
  constexpr family_table(const Families& families, tuned_table tuned = {})
      : families_(families), tuned_(tuned), is_there_(true) {}

  constexpr explicit operator bool() const { return is_there_; }
  constexpr bool has_value() const { return is_there_; }
  constexpr std::span<const kernel_family> operator*() const { return families_; }
  constexpr tuned_table tuned() const { return tuned_; }

 private:
  std::span<const kernel_family> families_;
  tuned_table tuned_;
  bool is_there_ = false;
};

}  // namespace dnnkit
