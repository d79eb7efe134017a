// SPDX-License-Identifier: MIT
// A plan made in a constant expression, kept as static arrays: the same tables with their sizes in the type.
#pragma once

#include <algorithm>
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
}  // namespace detail

template <table_sizes Sizes> using frozen_plan = plan_tables<detail::array_tables<Sizes>::template container>;

// Make{}() is a constant expression giving a plan; the result is a constant of the smallest size that holds it.
template <class Make> struct freeze {
  static constexpr table_sizes sizes = sizes_of(Make{}());
  static constexpr frozen_plan<sizes> value = [] {
    frozen_plan<sizes> result{};
    const plan_draft p = Make{}();
    for_each_table([&](auto table) {
      auto& to = table(result);
      const auto& from = table(p);
      for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i];
    });
    result.arena_bytes = p.arena_bytes;
    result.is_static = p.is_static;
    return result;
  }();
};

}  // namespace dnnkit
