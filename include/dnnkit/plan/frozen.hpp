// SPDX-License-Identifier: MIT
// A plan made in a constant expression, kept as static arrays: the same tables with their sizes in the type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::detail {
template <table_sizes Sizes> struct array_tables {
  template <class T, std::size_t Table> using container = std::array<T, Sizes[Table]>;
};

// Room for one row of a table. An array of rooms costs the compiler no more than the rows put into it, where an array
// of rows would have each of its elements constructed, unless they are numbers.
template <class Row> union room {
  char empty;
  Row row;
};
template <std::size_t Capacity> struct roomy_tables {
  template <class Row, std::size_t> struct container {
    std::conditional_t<std::is_scalar_v<Row>, Row, room<Row>> rooms[Capacity];
  };
};

// A plan of at most Capacity rows a table.
template <std::size_t Capacity> struct roomy_plan {
  plan_tables<roomy_tables<Capacity>::template container> tables;
  table_sizes sizes{};
  bool fits = true;
};

template <class Make, std::size_t Capacity> constexpr roomy_plan<Capacity> make_roomy_plan() {
  roomy_plan<Capacity> r{};
  const plan_draft p = Make{}();
  r.sizes = sizes_of(p);
  for (std::size_t n : r.sizes) r.fits = r.fits && n <= Capacity;
  if (!r.fits) return r;
  for_each_table([&](auto table) {
    auto* const to = table(r.tables).rooms;
    const auto* const from = table(p).items;
    const std::size_t n = table(p).count;
    for (std::size_t i = 0; i < n; ++i)
      if constexpr (requires { to->row; }) to[i] = {.row = from[i]};
      else to[i] = from[i];
  });
  r.tables.arena_bytes = p.arena_bytes;
  r.tables.is_static = p.is_static;
  r.tables.error = p.error;
  return r;
}

// The same, made once however often it is asked for. Clang makes a constant of a function again whenever it evaluates
// the function, but not a static one; GCC does not, but may keep a static one, huge as it is, in the object file.
template <class Make, std::size_t Capacity> struct static_roomy_plan {
  static constexpr roomy_plan<Capacity> value = make_roomy_plan<Make, Capacity>();
};
#ifdef __clang__
inline constexpr bool makes_constants_again = true;
#else
inline constexpr bool makes_constants_again = false;
#endif
template <class Make, std::size_t Capacity> constexpr roomy_plan<Capacity> roomy_plan_of() {
  if constexpr (makes_constants_again) return static_roomy_plan<Make, Capacity>::value;
  else return make_roomy_plan<Make, Capacity>();
}

// No plan is tried with more room: one that is no constant never fits, and its error should be said once or twice.
inline constexpr std::size_t most_rows = 1 << 22;

template <table_sizes Sizes> using plan_arrays = plan_tables<array_tables<Sizes>::template container>;

inline constexpr std::size_t usual_rows = 1 << 18;

// Whether the plan can be made in a constant expression. Where the compiler would make it once more to find that out,
// it says so itself.
template <class Make>
concept makes_constant = makes_constants_again || requires {
  typename std::bool_constant<roomy_plan_of<Make, usual_rows>().fits>;
};

// Which tables a frozen plan has; the others are empty.
enum class frozen_part : std::uint8_t { run, record };
constexpr table_sizes sizes_of_part(table_sizes sizes, frozen_part kept) {
  for (std::size_t k = 0; k < table_count; ++k)
    if ((k >= first_of_record) != (kept == frozen_part::record)) sizes[k] = 0;
  return sizes;
}

// The plan is made once, into more room than it needs, and copied to its exact size. The roomy one is a constant of
// this function, which is never called in a program: a static variable might be kept in the object file.
template <class Make, frozen_part Part, std::size_t Capacity = usual_rows> constexpr auto make_frozen_plan() {
  constexpr roomy_plan<Capacity> roomy = roomy_plan_of<Make, Capacity>();
  if constexpr (!roomy.fits && Capacity < most_rows) {
    return make_frozen_plan<Make, Part, most_rows>();
  } else {
    constexpr table_sizes sizes = sizes_of_part(roomy.sizes, Part);
    plan_arrays<sizes> result{};
    std::size_t k = 0;
    for_each_table([&](auto table) {
      auto* to = table(result).data();
      const auto* const from = table(roomy.tables).rooms;
      const std::size_t n = sizes[k++];
      for (std::size_t i = 0; i < n; ++i)
        if constexpr (requires { from->row; }) to[i] = from[i].row;
        else to[i] = from[i];
    });
    result.arena_bytes = roomy.tables.arena_bytes;
    result.is_static = roomy.tables.is_static;
    result.error = roomy.tables.error;
    return result;
  }
}

struct no_frozen_plan {
  static constexpr auto value = [] {
    plan_arrays<table_sizes{}> none{};
    none.error = said_by_compiler;
    return none;
  }();
};
}  // namespace dnnkit::detail

namespace dnnkit::plan {

// Make{}() is a constant expression giving a plan; the results are constants of the smallest size that holds it: what a
// program that runs the plan reads, and the record of how it came about.
template <class Make> struct freeze {
  static constexpr auto value = detail::make_frozen_plan<Make, detail::frozen_part::run>();
};
template <class Make> struct freeze_record {
  static constexpr auto value = detail::make_frozen_plan<Make, detail::frozen_part::record>();
};
// Where it is no constant expression, as compile.hpp says, they are empty.
template <class Make>
requires(!detail::makes_constant<Make>) struct freeze<Make> : detail::no_frozen_plan {
};
template <class Make>
requires(!detail::makes_constant<Make>) struct freeze_record<Make> : detail::no_frozen_plan {
};

// A view of both.
constexpr plan_view with_record(plan_view plan, const plan_view& record) {
  std::size_t k = 0;
  for_each_table([&](auto table) {
    if (k++ >= first_of_record) table(plan) = table(record);
  });
  return plan;
}

}  // namespace dnnkit::plan
