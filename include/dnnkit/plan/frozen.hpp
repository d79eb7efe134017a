// SPDX-License-Identifier: MIT
// A plan made in a constant expression, kept as static arrays: the same tables with their sizes in the type.
#pragma once

#include <array>
#include <cstddef>

#include "dnnkit/plan/plan.hpp"

namespace dnnkit {

using table_sizes = std::array<std::size_t, table_count>;

template <class Tables> constexpr table_sizes sizes_of(const Tables& p) {
  table_sizes sizes{};
  std::size_t i = 0;
  for_each_table([&](auto table) { sizes[i++] = table(p).size(); });
  return sizes;
}

namespace detail {
template <table_sizes Sizes> struct array_tables {
  template <class T, std::size_t Table> using container = std::array<T, Sizes[Table]>;
};

// Room for one row of a table. An array of rooms costs the compiler no more than the rows put into it, where an array
// of rows would have each of its elements constructed.
template <class Row> union room {
  char empty;
  Row row;
};
template <std::size_t Capacity> struct roomy_tables {
  template <class Row, std::size_t> struct container { room<Row> rooms[Capacity]; };
};

// A plan of at most Capacity rows a table, as the expensive constant expression that makes it leaves it; evaluated
// once, and copied to its exact size by freeze.
template <class Make, std::size_t Capacity> struct roomy_plan {
  struct result {
    plan_tables<roomy_tables<Capacity>::template container> tables;
    table_sizes sizes{};
    bool fits = true;
  };
  static constexpr result value = [] {
    result r{};
    const plan_draft p = Make{}();
    r.sizes = sizes_of(p);
    for (std::size_t n : r.sizes) r.fits = r.fits && n <= Capacity;
    if (!r.fits) return r;
    for_each_table([&](auto table) {
      auto* to = table(r.tables).rooms;
      const auto* from = table(p).data();
      const std::size_t n = table(p).size();
      for (std::size_t i = 0; i < n; ++i) to[i] = {.row = from[i]};
    });
    r.tables.arena_bytes = p.arena_bytes;
    r.tables.is_static = p.is_static;
    r.tables.error = p.error;
    return r;
  }();
};

template <class Make, std::size_t Capacity = 1 << 18> constexpr const auto& make_roomy_plan() {
  if constexpr (roomy_plan<Make, Capacity>::value.fits) return roomy_plan<Make, Capacity>::value;
  else return make_roomy_plan<Make, Capacity * 8>();
}
}  // namespace detail

template <table_sizes Sizes> using frozen_plan = plan_tables<detail::array_tables<Sizes>::template container>;

// Make{}() is a constant expression giving a plan; the result is a constant of the smallest size that holds it.
template <class Make> struct freeze {
  static constexpr table_sizes sizes = detail::make_roomy_plan<Make>().sizes;
  static constexpr frozen_plan<sizes> value = [] {
    frozen_plan<sizes> result{};
    constexpr const auto& roomy = detail::make_roomy_plan<Make>();
    std::size_t k = 0;
    for_each_table([&](auto table) {
      auto* to = table(result).data();
      const auto* from = table(roomy.tables).rooms;
      const std::size_t n = sizes[k++];
      for (std::size_t i = 0; i < n; ++i) to[i] = from[i].row;
    });
    result.arena_bytes = roomy.tables.arena_bytes;
    result.is_static = roomy.tables.is_static;
    result.error = roomy.tables.error;
    return result;
  }();
};

}  // namespace dnnkit
